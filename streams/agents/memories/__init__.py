"""The agent of stored memories: their versions, and the memories consolidated from them."""
