"""Format recalled memories as one framed block of text within a token budget.

The last of the six packages of recall: index, question, arms, ranking, answer, context. If nothing
is relevant, there is no block.
"""
