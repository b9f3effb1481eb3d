"""The declared rules of dates and times, one module for each kind of expression."""
