"""What a sentence is made of: clauses, verbs, questions, reported speech."""
