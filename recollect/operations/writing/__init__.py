"""The writer: what rules conclude, and what a language model adds."""
