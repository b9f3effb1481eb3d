"""From ranked turns and documents to an answer, or to an explanation of one.

The fifth of the six rooms of recall: index, question, arms, ranking, answer, context.
`recaller.Recaller` takes questions and hands each through the other rooms (`pipeline`).
"""
