"""From the scores of the arms to one order: candidates, fusion, reranking, diversity.

The fourth of the six rooms of recall: index, question, arms, ranking, answer, context. `profiles`
says which arms run and how their scores are weighed.
"""
