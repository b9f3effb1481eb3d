"""The one door to language models: who is asked, how often, and what it may cost."""
