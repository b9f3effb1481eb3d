"""The language-model writer: its proposals, validated against the message."""
