"""The reader: small heads on the encoder's token vectors, which read what stands in a text."""
