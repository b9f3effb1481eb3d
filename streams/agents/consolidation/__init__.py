"""The consolidation agent: clusters and observations, daily passes, dreams, merges of facts."""
