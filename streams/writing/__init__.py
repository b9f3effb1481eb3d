"""The language-model writer: its prompt, its tools, and the tool loop."""
