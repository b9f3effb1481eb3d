"""Fuzzing: what nobody would send, at every place where something is read."""
