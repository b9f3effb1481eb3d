"""The agents of mental models and directives, and the pages that they write."""
