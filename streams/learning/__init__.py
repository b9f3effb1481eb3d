"""Learning from trajectories: comparison of outcomes, curation of strategies, feedback scores.

Pure functions; `recollect.streams.agents.learning` decides with them.
"""
