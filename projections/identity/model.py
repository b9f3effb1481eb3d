"""The file identity.db."""

from projections.readmodel import SCHEMA_VERSION, ReadModel


class IdentityModel(ReadModel):
    """Entities, handles, mentions and merges."""

    name = "identity"
    upgrades = (SCHEMA_VERSION,)
