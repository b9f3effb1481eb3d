"""The file identity.db."""

from pathlib import Path

from projections.migrations import Migrations
from projections.readmodel import ReadModel


class IdentityModel(ReadModel):
    """Entities, handles, mentions and merges."""

    name = "identity"
    migrations = Migrations(Path(__file__).parent / "migrations")
