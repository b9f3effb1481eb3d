"""From ranked turns and documents to an answer, or to an explanation of one.

The last of the five rooms of recall: index, question, arms, ranking, answer. `recaller.Recaller`
takes questions and hands each through the other rooms (`pipeline`).
"""
