"""Other people's checks and clients, unmodified, against a service."""
