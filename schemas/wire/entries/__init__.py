"""The entries of lists, one module for each kind of memory, and their pages."""
