"""How fast texts become vectors, and how exact they are."""
