"""The statements of a message: the clauses worth keeping, in the third person."""
