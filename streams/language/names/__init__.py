"""Who and what a text names, and whether two names are alike."""
