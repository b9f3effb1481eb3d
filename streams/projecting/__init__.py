"""Bringing a zone's files up to the topics: now, in another process, or up to a past moment.

Nothing here decides.
"""
