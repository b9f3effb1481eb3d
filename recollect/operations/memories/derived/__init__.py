"""Derived layers: episodes, analyses, the timeline, the graph, observations, mental models."""
