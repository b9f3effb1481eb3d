"""Derived ids: the same memory has the same id on every machine and in every replay."""

from __future__ import annotations

import hashlib

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_FROM_CONTENT = "content-"
#: The characters of a ULID's time, at its beginning; the others are a hash.
ULID_TIME_LENGTH = 10
_PAIRS = [high + low for high in _CROCKFORD for low in _CROCKFORD]


def derive_ulid(time_ms: int, *parts: str) -> str:
    """Return a ULID with the time `time_ms`, whose 80 low bits are a hash of `parts`.

    The layout follows the ULID specification: 48 bits of unix milliseconds and 80 bits, in 26
    characters of Crockford's base 32. The 80 bits, random in the specification, are the BLAKE2b-80
    of the parts, each prefixed with its length so that ("ab", "c") and ("a", "bc") differ.
    """
    digest = hashlib.blake2b(_framed(parts), digest_size=10).digest()
    return _ulid((time_ms << 80) | int.from_bytes(digest, "big"))


def _ulid(number: int) -> str:
    return "".join([_PAIRS[number >> shift & 1023] for shift in range(120, -1, -10)])


def first_ulid(time_ms: int) -> str:
    """Return the least ULID with the time `time_ms`."""
    return _ulid(time_ms << 80)


def time_of(ulid: str) -> int:
    """Return the time of a ULID (unix ms)."""
    time = 0
    for digit in ulid[:ULID_TIME_LENGTH]:
        time = time * 32 + _CROCKFORD.index(digit)
    return time


def _framed(parts: tuple[str, ...]) -> bytes:
    """Encode texts, each prefixed with its length."""
    encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
    return b"".join([len(part).to_bytes(4, "big") + part for part in encoded])


def event_id(zone: str, platform: str, source_id: str, occurred_at: int) -> str:
    """Return the id of an event, from its platform and source id."""
    return derive_ulid(occurred_at, "event", zone, platform, source_id)


def fact_id(source_event: str, text: str, as_of: int) -> str:
    """Return the id of the fact `text` (normalised) from `source_event`."""
    return derive_ulid(as_of, "fact", source_event, text)


def entity_id(kind: str, name: str, first_seen: int, *scope: str) -> str:
    """Return the id of an entity of the type `kind`, from its handle or normalised name.

    `scope` distinguishes entities with the same name: two people called Alex on one platform.
    """
    return derive_ulid(first_seen, "entity", kind, name, *scope)


def turn_row_id(platform: str, turn_id: str) -> str:
    """Return the id of an agent turn from the platform's own id."""
    return derive_ulid(0, "turn", platform, turn_id)


def handle_row_id(platform: str, handle: str) -> str:
    """Return the id of a delivery handle."""
    return derive_ulid(0, "handle", platform, handle)


def next_version_id(episode: str) -> str:
    """Return the id of the version after a version of an episode."""
    return derive_ulid(time_of(episode), "episode", episode)


def merge_candidate_id(proposed_at: int, entity_a: str, entity_b: str) -> str:
    """Return the id of a proposal to merge two entities."""
    return row_id(proposed_at, "merge_candidate", entity_a, entity_b)


def row_id(time_ms: int, table: str, *parts: str) -> str:
    """Return the id of a row of any other table."""
    return derive_ulid(time_ms, table, *parts)


def text_hash(text: str) -> str:
    """Return the key of a text's recorded vector: its BLAKE2b-128, in hex."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def content_source_id(
    platform: str, sender_id: str, conversation: str, occurred_at: int, content: str, ordinal: int
) -> str:
    """Return a source id for a record that has none, computed from its content.

    Records of two imports with the same content, sender, time and conversation (peer, thread,
    session) get the same id: they are one event. Within one import such records are different
    events; `ordinal` numbers them from 0.
    """
    framed = _framed((platform, sender_id, conversation, str(occurred_at), content))
    digest = hashlib.blake2b(framed, digest_size=16)
    return f"{_FROM_CONTENT}{digest.hexdigest()}" + (f"-{ordinal}" if ordinal else "")


def is_content_source_id(source_id: str) -> bool:
    """Return whether a source id was made by `content_source_id`."""
    return source_id.startswith(_FROM_CONTENT)
