"""Bringing a zone's files up to what the topics hold, here, in the background or as of the past.

Nothing here decides.
"""
