"""The agent that learns from trajectories."""
