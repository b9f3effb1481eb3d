"""What a question asks for: its words, names, times, filters and the type of its answer.

The second of the five rooms of recall: index, question, arms, ranking, answer. Everything that
reads a question stands here.
"""
