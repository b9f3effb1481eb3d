"""Limits of pages and hops: one form of message, and the bounds that the documents state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from recollect import InvalidInput, Recollect, Zone
from tests.library.kit import said

Call = Callable[[Zone, Any], object]

#: A parameter's name, its least and its greatest value, and a call with it.
LIMITS: list[tuple[str, int, int, Call]] = [
    ("limit", 1, 1_000, lambda zone, value: zone.facts(limit=value)),
    ("limit", 1, 1_000, lambda zone, value: zone.entities(limit=value)),
    ("limit", 1, 1_000, lambda zone, value: zone.list_memories(limit=value)),
    ("limit", 1, 1_000, lambda zone, value: zone.query_memories(limit=value)),
    ("limit", 1, 1_000, lambda zone, value: zone.relationships("Ada", limit=value)),
    ("limit", 1, 10_000, lambda zone, value: zone.analyse(limit=value, dry_run=True)),
    ("max_entities", 1, 1_000, lambda zone, value: zone.neighbors("Ada", max_entities=value)),
    ("max_results", 1, 100, lambda zone, value: zone.related("Ada", max_results=value)),
    ("hops", 0, 6, lambda zone, value: zone.neighbors("Ada", hops=value)),
    ("max_hops", 1, 6, lambda zone, value: zone.find_path("Ada", "Turin", max_hops=value)),
]


@pytest.fixture(scope="module")
def zone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zone]:
    with Recollect(tmp_path_factory.mktemp("limits") / "home", encoder="none") as opened:
        zone = opened.zone("ada")
        zone.ingest([said("m1", "I live in Turin.")])
        yield zone


@pytest.mark.parametrize(("name", "least", "most", "call"), LIMITS)
def test_a_limit_is_refused_beyond_its_bounds_in_one_form(
    zone: Zone, name: str, least: int, most: int, call: Call
) -> None:
    for within in (least, most):
        call(zone, within)
    for beyond in (least - 1, most + 1, -1, True, "3", 2.0, None):
        with pytest.raises(InvalidInput) as refused:
            call(zone, beyond)
        assert str(refused.value) == f"{name} is {beyond!r}; give {least} to {most}"
