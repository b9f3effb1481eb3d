"""The agents for mental models and directives, and the pages that they write."""
