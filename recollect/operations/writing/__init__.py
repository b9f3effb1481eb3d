"""The writer: facts extracted by the rules, and those that a language model adds."""
