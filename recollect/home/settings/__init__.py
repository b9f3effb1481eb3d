"""Settings: their declarations, the values in effect, and a home's own types of analyses."""
