"""Operations on derived layers: episodes, analyses, timeline, observations, mental models."""
