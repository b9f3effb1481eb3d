"""The remote library: the methods of the local library, carried out by a service."""
