"""Mental models without a language model: the page about an entity.

Pure functions: a page is determined by the facts about its entity, and every line cites its facts.
"""
