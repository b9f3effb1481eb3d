"""identity.db: entities, their names and accounts, and merges."""

from recollect.projections.identity.identity_file import IdentityModel

__all__ = ["IdentityModel"]
