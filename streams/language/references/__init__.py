"""Whom and what pronouns and bare descriptions stand for."""
