"""Notes that people write for themselves, as files of Markdown or plain text."""
