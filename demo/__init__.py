"""The demo: a sample export, questions about it, and the steps that a newcomer would take."""
