"""Answering questions: recall, context, reports, explanations."""
