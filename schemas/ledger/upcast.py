"""Upcasters: convert payloads of older versions to the current one, a version at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from recollect.schemas.errors import NewerFormat
from recollect.schemas.events import KINDS

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]

# To raise a kind's version, add an upcaster from the previous one, and a record of the previous one
# to tests/data/golden.
CURRENT_VERSIONS: dict[str, int] = dict.fromkeys(KINDS, 1) | {
    "edit": 2,
    "message": 2,
    "model_wrote": 2,
    "remember": 4,
    "start_trajectory": 2,
    "update_mental_model": 2,
}

# (kind, version) -> the conversion to version + 1.
UPCASTERS: dict[tuple[str, int], Upcaster] = {
    # Version 1 has no field `revised_at`.
    ("edit", 1): lambda payload: payload,
    ("message", 1): lambda payload: payload,
    # Version 1 has no field `rules`; its answers are decided by rules version 1.
    ("model_wrote", 1): lambda payload: payload,
    # Version 1 has no field `replaces`.
    ("remember", 1): lambda payload: payload,
    # Version 2 has no owner, scope, visibility, validity, enrichments or origin.
    ("remember", 2): lambda payload: payload,
    # Version 3 has no field `revised_at`.
    ("remember", 3): lambda payload: payload,
    # Version 1 has no owner, scope or visibility: everyone reads and changes the trajectory.
    ("start_trajectory", 1): lambda payload: payload,
    # Version 1 has no field `tags`; without it, version 2 keeps the mental model's tags.
    ("update_mental_model", 1): lambda payload: payload,
}


def check_registry(
    current: Mapping[str, int], upcasters: Mapping[tuple[str, int], Upcaster]
) -> None:
    """Raise ValueError unless each kind has an upcaster from every version below the current one.

    An upcaster from the current version or beyond, or for an unknown kind, is an error as well.
    """
    for kind, version in current.items():
        missing = [v for v in range(1, version) if (kind, v) not in upcasters]
        if missing:
            raise ValueError(f"upcasters: {kind} has no step from version {missing[0]}")
    for kind, version in upcasters:
        if not 1 <= version < current.get(kind, 0):
            raise ValueError(f"upcasters: {kind} version {version} is not an earlier version")


def upcast(
    kind: str,
    version: int,
    payload: dict[str, Any],
    current: Mapping[str, int] = CURRENT_VERSIONS,
    upcasters: Mapping[tuple[str, int], Upcaster] = UPCASTERS,
) -> dict[str, Any]:
    """Return `payload` in the current version of `kind`.

    Raises:
        NewerFormat: a newer program wrote the record.
    """
    if version > current[kind]:
        raise NewerFormat(
            f"a {kind} of version {version} was written by a newer recollect "
            f"(this one reads up to {current[kind]}); upgrade to read it"
        )
    for step in range(version, current[kind]):
        payload = upcasters[kind, step](payload)
    return payload


check_registry(CURRENT_VERSIONS, UPCASTERS)
