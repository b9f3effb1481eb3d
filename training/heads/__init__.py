"""Training of the single heads: their texts, the fitting, and a module for each kind of head."""
