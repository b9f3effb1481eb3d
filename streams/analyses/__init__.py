"""Analyses of an episode's messages: personal data, a summary, and what a conversation settled.

Pure functions over messages. Each names the messages that a result comes from, so that an erasure
can take it away.
"""
