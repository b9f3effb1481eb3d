"""The mental models of a bank. Hindsight gives a model one id; here each version has its own."""

from __future__ import annotations

from typing import Any

from recollect import MentalModel, Zone, paginate

#: The versions of a mental model, the oldest first. The model's id is that of its first version.
Versions = list[MentalModel]


def list_models(zone: Zone) -> list[Versions]:
    """Return the mental models of a bank, the most recently changed one last."""
    found: dict[str | None, Versions] = {}
    for version in paginate(zone.mental_models, superseded=True):
        found[version.id] = [*found.pop(version.previous, []), version]
    return list(found.values())


def find_model(zone: Zone, model_id: str) -> Versions:
    """Return the mental model that has a version with this id.

    Raises:
        UnknownId: the bank has no such model.
    """
    version = zone.mental_model(model_id)
    for versions in list_models(zone):
        if any(version.id == one.id for one in versions):
            return versions
    return [version]


def in_hindsight_form(bank: str, versions: Versions) -> dict[str, Any]:
    """Return a mental model in Hindsight's form: its current version, with the model's id."""
    current = versions[-1]
    return {
        "id": versions[0].id,
        "bank_id": bank,
        "name": current.name,
        "content": current.description,
        "tags": current.tags,
        "last_refreshed_at": current.updated_at,
    }
