"""Sentence structure: clauses, verbs, questions, reported speech."""
