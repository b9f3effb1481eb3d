"""The drivers: what runs agents and projections, on one machine or many."""
