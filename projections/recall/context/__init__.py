"""What of a memory is put before an agent: lines, as many as its room takes, in a frame (A25, B12).

The last of the six rooms of recall: index, question, arms, ranking, answer, context. It takes the
results of a recall and writes them as one block of text, or none.
"""
