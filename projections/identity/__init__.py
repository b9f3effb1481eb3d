"""identity.db: the entities that the memory is about."""

from recollect.projections.identity.identity_file import IdentityModel

__all__ = ["IdentityModel"]
