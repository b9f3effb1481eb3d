"""The file identity.db."""

from projections.readmodel import SCHEMA_VERSION, ReadModel

_BY_WINNER = "CREATE INDEX idx_merges_winner ON merges(winner_id);"


class IdentityModel(ReadModel):
    """Entities, handles, mentions and merges."""

    name = "identity"
    upgrades = (SCHEMA_VERSION, _BY_WINNER)
