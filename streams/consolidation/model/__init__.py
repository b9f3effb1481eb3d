"""A language model's observations, statements and dreams: its tools, and the check of its calls."""
