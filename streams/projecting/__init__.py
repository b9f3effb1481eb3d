"""Project the topics into a zone's files: now, in another process, or up to a past record.

Nothing here decides.
"""
