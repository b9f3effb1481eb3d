"""The agents of episodes: they group events, and analyse the groups."""
