"""Rank what the arms find: candidates, fusion, reranking, diversity.

The fourth of the six packages of recall: index, question, arms, ranking, answer, context.
`profiles` defines which arms run, and the weights of their scores.
"""
