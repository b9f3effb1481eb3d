"""Facts from plain text without a language model: pure functions over a message.

The package itself imports none of its modules: reading a question needs only a few of them.
"""
