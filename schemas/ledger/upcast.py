"""Upcasters: a payload of an older version is brought to today's, one version at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from recollect.schemas.errors import NewerFormat
from recollect.schemas.events import KINDS

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]

# The version that is written today. Raise a kind's number together with an upcaster from the
# number before, and add a record of the old one to tests/data/golden.
CURRENT_VERSIONS: dict[str, int] = dict.fromkeys(KINDS, 1) | {"update_mental_model": 2}

# (kind, version) -> the function that makes it version + 1.
UPCASTERS: dict[tuple[str, int], Upcaster] = {
    # The first version kept the tags of the mental model, as the second does where it has none.
    ("update_mental_model", 1): lambda payload: payload,
}


def check_registry(
    current: Mapping[str, int], upcasters: Mapping[tuple[str, int], Upcaster]
) -> None:
    """Raise ValueError unless each kind's versions 1..current are joined without a gap.

    Every step goes from a version to the next, so there can be no cycle; a step from the
    current version or beyond, or for a kind that is not known, is refused as well.
    """
    for kind, version in current.items():
        missing = [v for v in range(1, version) if (kind, v) not in upcasters]
        if missing:
            raise ValueError(f"upcasters: {kind} has no step from version {missing[0]}")
    for kind, version in upcasters:
        if not 1 <= version < current.get(kind, 0):
            raise ValueError(f"upcasters: the step from {kind} version {version} leads nowhere")


def upcast(
    kind: str,
    version: int,
    payload: dict[str, Any],
    current: Mapping[str, int] = CURRENT_VERSIONS,
    upcasters: Mapping[tuple[str, int], Upcaster] = UPCASTERS,
) -> dict[str, Any]:
    """Return `payload` as today's version of `kind`.

    Raises:
        NewerFormat: the record is newer than this program.
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
