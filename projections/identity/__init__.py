"""identity.db: who and what the memory is about."""

from projections.identity.model import IdentityModel

__all__ = ["IdentityModel"]
