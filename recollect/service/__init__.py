"""The query service: one process that answers over HTTP for the zones of a home."""
