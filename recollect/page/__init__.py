"""The page: a memory in a browser, at the root of the query service."""
