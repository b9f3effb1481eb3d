"""The mental models of a bank. Hindsight names each by one id; here each version has its own."""

from __future__ import annotations

from typing import Any

from recollect import MentalModel, Zone, paginate

#: The versions of a mental model, the oldest first; the id of the first names them all.
Versions = list[MentalModel]


def every_model(zone: Zone) -> list[Versions]:
    """Return the mental models of a bank, the most recently changed one last."""
    found: dict[str | None, Versions] = {}
    for version in paginate(zone.mental_models, superseded=True):
        found[version.id] = [*found.pop(version.previous, []), version]
    return list(found.values())


def model_named(zone: Zone, model_id: str) -> Versions:
    """Return the mental model one of whose versions has an id.

    Raises:
        UnknownId: the bank has none.
    """
    version = zone.mental_model(model_id)
    for versions in every_model(zone):
        if any(version.id == one.id for one in versions):
            return versions
    return [version]


def shown(bank: str, versions: Versions) -> dict[str, Any]:
    """Return a mental model as Hindsight shows it: its current version, under its one id."""
    current = versions[-1]
    return {
        "id": versions[0].id,
        "bank_id": bank,
        "name": current.name,
        "content": current.description,
        "tags": current.tags,
        "last_refreshed_at": current.updated_at,
    }
