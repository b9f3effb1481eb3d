"""The writer on a language model: its prompt, its tools, and the tool loop."""
