"""What recall keeps in memory of a zone's files, and how it is searched.

The first of the five rooms of recall: index, question, arms, ranking, answer. Each imports only
itself and those before it. `zone_index.Index` holds the arrays of turns, facts and vectors, follows
the files' watermarks and is stored with them (`array_store`). It knows nothing of questions.
"""
