"""Commands on what is derived: facts, entities, episodes, observations, models."""
