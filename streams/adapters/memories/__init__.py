"""Adapters of other memory systems: what they hold becomes texts to remember."""
