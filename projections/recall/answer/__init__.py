"""Assemble an answer from ranked turns and documents, or explain one.

The fifth of the six packages of recall: index, question, arms, ranking, answer, context.
`recaller.Recaller` takes queries and runs each question through the other packages (`pipeline`).
"""
