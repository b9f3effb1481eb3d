"""Whether a clause says something worth keeping."""
