"""The memory writers: facts of what messages say, by rules, and what a language model adds."""
