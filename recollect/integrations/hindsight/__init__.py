"""Hindsight's interface over a zone: the paths that its client calls."""
