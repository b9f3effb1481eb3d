"""Resolution of pronouns and bare descriptions."""
