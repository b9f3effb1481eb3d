"""The times of a question: dates in it, times relative to events, and validity."""
