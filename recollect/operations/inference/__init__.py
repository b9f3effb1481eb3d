"""Inference over large contexts: a model writes code that reads and searches them (C18)."""
