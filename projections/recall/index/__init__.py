"""The index of a zone: what recall holds in memory of the zone's files, to search it fast.

The first of the six rooms of recall: index, question, arms, ranking, answer, context. Each imports
only itself and those before it. `zone_index.Index` has the arrays of turns, facts and vectors,
follows the files' watermarks, and is stored in their folder (`array_store`). It knows
nothing of questions.
"""
