"""A payload of any older version becomes today's, step by step, and no step may be missing."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from recollect.schemas.errors import NewerFormat
from recollect.schemas.events import KINDS
from recollect.schemas.ledger.records import read_event, unseal_event
from recollect.schemas.ledger.seal import new_key, seal
from recollect.schemas.ledger.upcast import (
    CURRENT_VERSIONS,
    UPCASTERS,
    Upcaster,
    check_registry,
    upcast,
)

Payload = dict[str, Any]


def split_name(payload: Payload) -> Payload:
    first, last = payload["name"].split(" ")
    return {"first": first, "last": last}


def greet(payload: Payload) -> Payload:
    return {**payload, "greeting": f"Dear {payload['first']}"}


def same(payload: Payload) -> Payload:
    return payload


CHAIN: dict[tuple[str, int], Upcaster] = {("note", 1): split_name, ("note", 2): greet}


def test_two_steps_are_applied_in_order() -> None:
    # `greet` needs what `split_name` makes: the other order would fail.
    made = upcast("note", 1, {"name": "Ada Lovelace"}, {"note": 3}, CHAIN)
    assert made == {"first": "Ada", "last": "Lovelace", "greeting": "Dear Ada"}


def test_a_newer_record_takes_only_the_steps_that_it_lacks() -> None:
    made = upcast("note", 2, {"first": "Ada", "last": "L"}, {"note": 3}, CHAIN)
    assert made == {"first": "Ada", "last": "L", "greeting": "Dear Ada"}


def test_todays_version_stays_what_it_is() -> None:
    payload = {"first": "Ada"}
    assert upcast("note", 3, payload, {"note": 3}, CHAIN) == {"first": "Ada"}


def test_a_version_from_the_future_is_refused_by_name() -> None:
    with pytest.raises(NewerFormat, match=r"note of version 4 .* newer recollect .* up to 3"):
        upcast("note", 4, {}, {"note": 3}, CHAIN)


def test_a_whole_registry_passes() -> None:
    check_registry({"note": 3, "other": 1}, CHAIN)


@pytest.mark.parametrize(
    ("current", "steps", "reason"),
    [
        ({"note": 3}, {("note", 1)}, "no step from version 2"),
        ({"note": 3}, {("note", 2)}, "no step from version 1"),
        ({"note": 2}, set(), "no step from version 1"),
        ({"note": 4}, {("note", 1), ("note", 3)}, "no step from version 2"),
        # The nearest thing to a cycle: a step out of today's version, back into the chain.
        ({"note": 2}, {("note", 1), ("note", 2)}, "version 2 is not an earlier version"),
        ({"note": 1}, {("note", 1)}, "version 1 is not an earlier version"),
        ({"note": 2}, {("note", 1), ("note", 7)}, "version 7 is not an earlier version"),
        ({"note": 2}, {("note", 1), ("note", 0)}, "version 0 is not an earlier version"),
        ({"note": 2}, {("note", 1), ("note", -1)}, "version -1 is not an earlier version"),
        ({"note": 1}, {("letter", 1)}, "letter version 1 is not an earlier version"),
    ],
)
def test_a_registry_with_a_gap_or_a_loose_end_is_refused(
    current: dict[str, int], steps: set[tuple[str, int]], reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        check_registry(current, dict.fromkeys(steps, same))


def test_our_own_registry_is_whole() -> None:
    check_registry(CURRENT_VERSIONS, UPCASTERS)
    assert set(CURRENT_VERSIONS) == set(KINDS)


def record_of(kind: str, version: int, payload: Payload) -> tuple[bytes, bytes]:
    """Return (record, key) as an older or newer program would have written it."""
    key_id, key = new_key()
    envelope = msgspec.msgpack.encode(
        [1, "z", 1, bytes(32), kind, version, 5, 6, "slack", key_id, bytes(16)]
    )
    sealed = seal(key, msgspec.msgpack.encode(payload), envelope)
    return msgspec.msgpack.encode([envelope, sealed]), key


def test_an_old_record_is_opened_as_todays(monkeypatch: pytest.MonkeyPatch) -> None:
    def rename(payload: Payload) -> Payload:
        payload["name"] = payload.pop("called")
        return payload

    monkeypatch.setitem(CURRENT_VERSIONS, "tick", 2)
    monkeypatch.setitem(UPCASTERS, ("tick", 1), rename)
    value, key = record_of("tick", 1, {"kind": "tick", "source_id": "t", "called": "daily"})
    event = unseal_event(*read_event(value), key)
    assert msgspec.to_builtins(event.payload) == {
        "kind": "tick",
        "source_id": "t",
        "name": "daily",
    }


def test_a_record_from_the_future_says_upgrade() -> None:
    value, key = record_of("tick", CURRENT_VERSIONS["tick"] + 1, {"kind": "tick", "source_id": "t"})
    with pytest.raises(NewerFormat, match="upgrade"):
        unseal_event(*read_event(value), key)


def test_a_record_of_an_unknown_kind_names_the_kind() -> None:
    value, key = record_of("prophecy", 1, {"kind": "prophecy", "source_id": "t"})
    with pytest.raises(KeyError, match="prophecy"):
        unseal_event(*read_event(value), key)
