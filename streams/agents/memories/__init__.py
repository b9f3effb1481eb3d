"""The agent for stored memories: their versions, and the memories consolidated from them."""
