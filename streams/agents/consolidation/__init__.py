"""The agent of consolidation: clusters and observations, daily passes, dreams, merges of facts."""
