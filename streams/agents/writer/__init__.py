"""The memory writers, which extract facts from messages: by rules, and by a language model."""
