"""The reader: small classifier heads on the encoder's token vectors."""
