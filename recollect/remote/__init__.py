"""A memory over the network: what the library does with a home, done by a service."""
