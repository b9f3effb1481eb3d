"""Adapters of the messages on a phone: Apple's Messages, and backups of text messages."""
