"""The slots of a question: whose attribute it asks for, and the current values of it."""
