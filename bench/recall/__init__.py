"""How well and how fast questions are answered, and what facts are worth."""
