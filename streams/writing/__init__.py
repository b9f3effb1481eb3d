"""The writer on a language model: what it is told, its tools, and the loop that runs them (A19)."""
