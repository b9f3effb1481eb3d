"""JSON Schemas of what is stored and exchanged, and their generation from the types."""
