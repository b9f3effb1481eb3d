"""Facts from plain text without a language model: pure functions from a message to what it says.

Who reads a question needs no names, claims or contacts, so each module is imported by itself.
"""
