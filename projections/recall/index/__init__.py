"""The in-memory search index of a zone, built from the zone's files.

The first of recall's six packages: index, question, arms, ranking, answer, context. Each may import
only itself and earlier ones. `zone_index.Index` holds the arrays of turns, facts and vectors,
follows the files' watermarks, and is stored in their directory (`array_store`). It is the same for
all queries.
"""
