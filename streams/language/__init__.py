"""Facts from plain text without a language model: pure functions over a message.

Reading a question needs no names, claims or contacts, so each module is imported by itself.
"""
