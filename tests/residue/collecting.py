"""What a home knows of events that are to be forgotten, read with plain SQL before they are."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from tests.residue.needles import MIN_TRACE_BYTES, Trace, of_key, of_vector, of_word
from tests.residue.world import Gone


def traces_of(home: Path, gone: Sequence[Gone], keys: dict[bytes, bytes]) -> list[Trace]:
    """Return every trace by which what is to be forgotten could be found.

    `keys`: the zone's, by their ids.
    """
    found = [
        trace
        for one in gone
        for kind, words in one.words.items()
        for word in words
        for trace in of_word(kind, word)
    ]
    found += _of_files(_current(home), [id_ for one in gone for id_ in one.ids], keys)
    return list(dict.fromkeys(found))


def keys_of(directory: Path) -> dict[bytes, bytes]:
    """Return the keys by their ids; `directory`: an embedded home, or a node's copy/."""
    rows = _rows(directory / "keys.db", "SELECT key_id, key FROM keys")
    return {bytes(id_): bytes(key) for id_, key in rows}


def _of_files(files: Path, source_ids: list[str], keys: dict[bytes, bytes]) -> Iterator[Trace]:
    events = _rows(files / "events.db", "SELECT number, id, source_id FROM events")
    numbers = {number: event for number, event, source in events if source in set(source_ids)}
    ids = set(numbers.values())
    seals = dict(_rows(files / "events.db", "SELECT number, key_id FROM seals"))
    for number in numbers:
        yield from of_key(keys[bytes(seals[number])])
    targets = set(ids)
    for fact, source in _rows(files / "memory.db", "SELECT id, source_event_id FROM facts"):
        if source in ids:
            targets.add(fact)
            yield Trace("fact id", fact.encode(), text=True)
    for event in ids:
        yield Trace("event id", event.encode(), text=True)
    mentioned = _rows(
        files / "identity.db", "SELECT entity_id, event_id FROM mentions WHERE entity_id <> ''"
    )
    others = {entity for entity, event in mentioned if event not in ids}
    for entity in {entity for entity, event in mentioned if event in ids} - others:
        yield Trace("entity id", entity.encode(), text=True)
    vectors = files / "embeddings.db"
    held = _rows(vectors, "SELECT target_id, embedding, text_hash FROM embeddings")
    kept = {(bytes(vector), text) for target, vector, text in held if target not in targets}
    for target, vector, text in held:
        if target in targets and (bytes(vector), text) not in kept:
            yield Trace("text hash", text.encode(), text=True)
            yield from of_vector(np.frombuffer(vector, np.int8))
    # Words that others say as well have the same codes.
    codes = _rows(vectors, "SELECT target_id, codes FROM token_vectors")
    common = b"\n".join(bytes(raw) for target, raw in codes if target not in targets)
    for target, raw in codes:
        for start in range(0, len(raw), _TOKEN):
            token = bytes(raw[start : start + _TOKEN])
            if target in targets and len(token) >= MIN_TRACE_BYTES and token not in common:
                yield Trace("token vector", token)


# The bytes of a token's codes.
_TOKEN = 48


def _current(home: Path, zone: str = "default") -> Path:
    directory = home / "zones" / zone
    return directory / (directory / "CURRENT").read_text().strip()


def _rows(path: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()
