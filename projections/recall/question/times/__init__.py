"""The times of a question: days that it names, events that it counts from, what held when."""
