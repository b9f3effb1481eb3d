"""The name, the missions and the disposition of a bank, stored as an event of its zone.

They are returned unchanged, and have no effect on retaining and recalling.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from recollect import InvalidInput, Memory, Zone
from recollect.integrations.facade_kit import (
    group_versions,
    list_all,
    now_ms,
    partly_rejected,
    time_of_edit,
)
from recollect.integrations.hindsight.hindsight_events import BANK, KEY, PLATFORM, hindsight_fields

TRAITS = ("skepticism", "literalism", "empathy")
#: The fields of a bank that can be stored.
FIELDS = (
    *("name", "mission", "background", "reflect_mission", "retain_mission"),
    *("observations_mission", *(f"disposition_{trait}" for trait in TRAITS)),
)
_DEFAULT_TRAIT = 3
_MAX_TRAIT = 5


def stored_fields(zone: Zone) -> dict[str, Any]:
    """Return the stored fields of a bank."""
    found = versions(zone)
    fields = hindsight_fields(found[-1]).get(BANK) if found else None
    return dict(fields) if isinstance(fields, Mapping) else {}


def store_fields(
    zone: Zone, given: Mapping[str, Any], principal: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Update the stored fields of a bank, and return all. None removes a field.

    Raises:
        InvalidInput: a value is invalid.
    """
    stored = versions(zone)
    before = stored_fields(zone)
    fields = {name: value for name, value in {**before, **given}.items() if value is not None}
    for name, value in fields.items():
        _check(name, value)
    if fields == before:
        return fields
    text = fields.get("mission") or fields.get("reflect_mission") or fields.get("name")
    event: dict[str, Any] = {
        "platform": PLATFORM,
        "id": f"{PLATFORM}-{BANK}-{secrets.token_hex(8)}",
        # Outgoing, so that no facts are extracted from it.
        "sender_id": PLATFORM,
        "direction": "out",
        "occurred_at": time_of_edit(stored, now_ms()),
        "content": str(text or zone.name),
        "metadata": {KEY: {"kind": BANK, BANK: fields}},
    }
    if stored:
        event |= {"kind": "edit", "target": stored[0].source_event_ids[0]}
    report = zone.ingest(event, principal=principal)
    if report.rejected:
        raise partly_rejected(report, "bank", [0])
    return fields


def versions(zone: Zone) -> list[Memory]:
    """Return the event of a bank and its edits, oldest first; [] if there is none."""
    found = list_all(zone, "events", platform=PLATFORM, metadata={f"{KEY}.kind": BANK})
    groups = group_versions(found)
    return min(groups, key=lambda group: group[0].as_of) if groups else []


def _check(name: str, value: Any) -> None:
    if name.startswith("disposition_"):
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        if not is_integer or not 1 <= value <= _MAX_TRAIT:
            raise InvalidInput(f"{name} {value!r}: give a whole number, 1 to {_MAX_TRAIT}")
    elif not isinstance(value, str):
        raise InvalidInput(f"{name} is {type(value).__name__}; give a string")


def profile(bank: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a bank in Hindsight's form."""
    mission = fields.get("mission") or fields.get("reflect_mission") or ""
    return {
        "bank_id": bank,
        "name": fields.get("name") or bank,
        "disposition": {
            trait: fields.get(f"disposition_{trait}", _DEFAULT_TRAIT) for trait in TRAITS
        },
        "mission": mission,
        "background": fields.get("background"),
    }
