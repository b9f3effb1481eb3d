"""Consolidation of facts into observations: pure functions, with which the agents decide.

A fact is cut into units, a unit has topics (nouns), and the facts of one entity and one topic form
a cluster. A cluster with enough evidence becomes an observation: a dated list of its most telling
units, each of which cites its fact.
"""
