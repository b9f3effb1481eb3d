"""Plain English text: its words, sentences and dates.

The agents that read messages (streams.language) and the reader of questions (recall) use the same.
All functions are pure.
"""
