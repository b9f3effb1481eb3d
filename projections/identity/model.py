"""The file identity.db."""

from projections.readmodel import ReadModel


class IdentityModel(ReadModel):
    """Entities, handles, mentions and merges."""

    name = "identity"
