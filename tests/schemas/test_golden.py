"""Records that were written once are read for ever, and say what they said.

The oracle is the committed JSON beside them. `by_hand` opens a record with nothing of ours:
MessagePack lists, AES-GCM, HKDF after RFC 5869 written out.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import shutil
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from recollect.schemas.changes import (
    READ_MODEL_ROWS,
    ROW_OF_TABLE,
    AnyRow,
    decode_outbox,
    decode_sections,
)
from recollect.schemas.events import KINDS
from recollect.schemas.ledger.compression import DEFLATE_DICTIONARY
from recollect.schemas.ledger.fragments import Assembler
from recollect.schemas.ledger.records import read_change, read_event, unseal_event, unseal_part
from recollect.schemas.ledger.upcast import CURRENT_VERSIONS

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "data" / "golden"

RECORDS: dict[str, dict[str, Any]] = {
    record["sample"]: record
    for path in sorted(GOLDEN.glob("*.jsonl"))
    for record in map(json.loads, path.read_text("utf-8").splitlines())
}
SAYS: dict[str, dict[str, Any]] = {
    sample: says
    for path in sorted(GOLDEN.glob("*.json"))
    for sample, says in json.loads(path.read_text("utf-8")).items()
}
EVENTS = [name for name, record in RECORDS.items() if record["topic"] == "events"]
CHANGES = [name for name, record in RECORDS.items() if record["topic"] == "changes"]
SPLIT = [name for name, record in RECORDS.items() if isinstance(record["record"], list)]
#: The names of sections: what they are in old records is what they must be for ever.
MODEL_NAMES = ("memory", "identity", "embeddings")
MORE = "; add a sample to tests/data/golden/make.py and run it with a new name"


def keys_of(name: str) -> dict[bytes, bytes]:
    return {
        bytes.fromhex(key_id): bytes.fromhex(key) for key_id, key in RECORDS[name]["keys"].items()
    }


def fragments_of(name: str) -> list[bytes]:
    return [bytes.fromhex(record) for record in RECORDS[name]["record"]]


def value_of(name: str) -> bytes:
    """Return the whole record; one that is split is joined by hand."""
    if name in SPLIT:
        return b"".join(msgspec.msgpack.decode(value)[4] for value in fragments_of(name))
    return bytes.fromhex(RECORDS[name]["record"])


def plain(value: Any) -> Any:
    """Return what MessagePack gave as JSON has it."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def test_the_records_and_what_they_say_belong_together() -> None:
    assert RECORDS
    assert RECORDS.keys() == SAYS.keys()


def test_there_is_a_record_of_every_kind_and_every_version() -> None:
    held = {(SAYS[name]["payload"]["kind"], SAYS[name]["version"]) for name in EVENTS}
    wanted = {(kind, v) for kind in KINDS for v in range(1, CURRENT_VERSIONS[kind] + 1)}
    assert wanted <= held, f"no golden record of {sorted(wanted - held)}{MORE}"


def test_there_is_a_record_with_every_type_of_row() -> None:
    held = {table for name in CHANGES for part in SAYS[name]["parts"] for table in part["puts"]}
    wanted = {row.TABLE for row in get_args(AnyRow)}
    assert wanted <= held, f"no golden row of {sorted(wanted - held)}{MORE}"


@pytest.mark.parametrize("name", EVENTS)
def test_an_event_says_what_it_said(name: str) -> None:
    says = SAYS[name]
    envelope, record = read_event(value_of(name))
    event = unseal_event(envelope, record, keys_of(name)[envelope.key_id])
    assert envelope.version == says["version"]
    for field in ("zone", "number", "id", "platform", "occurred_at", "ingested_at"):
        assert getattr(event, field) == says[field], field
    assert event.kind == says["payload"]["kind"]
    assert plain(msgspec.to_builtins(event.payload, builtin_types=[bytes])) == says["payload"]


@pytest.mark.parametrize("name", EVENTS)
def test_an_event_opened_by_hand_says_the_same(name: str) -> None:
    says = SAYS[name]
    envelope, sealed = msgspec.msgpack.decode(value_of(name))
    clear = msgspec.msgpack.decode(envelope)
    key = keys_of(name)[clear[9]]
    text = AESGCM(key).decrypt(sealed[:12], sealed[12:], envelope)
    # The first samples do not say it.
    assert clear[:3] == [says.get("format", 1), says["zone"], says["number"]]
    if clear[0] >= 2:
        text = inflated(text, DEFLATE_DICTIONARY)
    assert clear[3] == bytes(range(32))
    assert clear[4:9] == [
        says["payload"]["kind"],
        says["version"],
        says["occurred_at"],
        says["ingested_at"],
        says["platform"],
    ]
    assert plain(msgspec.msgpack.decode(text)) == says["payload"]


def rows_as_said(puts: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    return {table: rows for table, rows in puts.items() if rows}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_says_what_it_said(name: str) -> None:
    says = SAYS[name]
    header, record = read_change(value_of(name))
    for field in ("chain", "zone", "number", "event_offset"):
        assert getattr(header, field) == says[field], field
    assert (header.is_parked, header.command_count) == (says["parked"], says["asks"])
    assert header.event_hash.hex() == says["event_hash"]
    assert header.previous.hex() == says["previous"]
    assert [[s.number, s.key_id.hex()] for s in header.erased_events] == says["erases"]
    # The first samples do not say it.
    assert header.format == says.get("format", 1)
    assert len(record.parts) == len(says["parts"])
    for part, said in zip(record.parts, says["parts"], strict=True):
        assert [source.number for source in part.sources] == said["sources"]
        text = unseal_part(record, part, keys_of(name))
        assert text is not None
        puts: dict[str, list[Any]] = {}
        deletes: dict[str, list[Any]] = {}
        for section in decode_sections(text, tuple(READ_MODEL_ROWS), header.format).values():
            for row in section.puts:
                columns = {c: plain(getattr(row, c)) for c in row.__struct_fields__}
                puts.setdefault(row.TABLE, []).append(columns)
            for delete in section.deletes:
                deletes.setdefault(delete.table, []).append(list(delete.key))
        assert {table: len(rows) for table, rows in puts.items()} == {
            table: len(rows) for table, rows in said["puts"].items()
        }
        for table, rows in said["puts"].items():
            for row, expected in zip(puts[table], rows, strict=True):
                # A later version may have appended columns; what was said stands.
                assert {column: row[column] for column in expected} == expected
        assert deletes == said["deletes"]
        drafts = decode_outbox(text, header.format)
        outbox = [plain(msgspec.to_builtins(d, builtin_types=[bytes])) for d in drafts]
        assert outbox == said["outbox"]


@pytest.mark.parametrize("name", SPLIT)
def test_fragments_give_the_record(name: str) -> None:
    assembler = Assembler()
    *before, last = [assembler.add(value) for value in fragments_of(name)]
    assert last == value_of(name)
    assert before
    assert not any(before)


@pytest.mark.parametrize("name", SPLIT)
def test_a_fragment_opened_by_hand_says_which_it_is(name: str) -> None:
    values = fragments_of(name)
    for index, value in enumerate(values):
        mark, *fields, check = msgspec.msgpack.decode(value)
        assert mark == "fragment"
        assert fields[:3] == [hashlib.sha256(value_of(name)).digest(), index, len(values)]
        assert check == hashlib.sha256(msgspec.msgpack.encode(fields)).digest()


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_opened_by_hand_says_the_same(name: str) -> None:
    header, parts = msgspec.msgpack.decode(value_of(name))
    keys = keys_of(name)
    for (sources, sealed), said in zip(parts, SAYS[name]["parts"], strict=True):
        material = [keys[key_id] for _, key_id in sources]
        key = material[0] if len(material) == 1 else hkdf(b"".join(material), b"recollect change")
        context = header + msgspec.msgpack.encode(sources)
        packed = AESGCM(key).decrypt(sealed[:12], sealed[12:], context)
        format_ = msgspec.msgpack.decode(header)[0]
        vectors, tokens = b"", []
        if format_ >= 4:
            packed, vectors, tokens = msgspec.msgpack.decode(packed)
            packed = inflated(packed, DEFLATE_DICTIONARY)
            vectors = inflated(vectors) if vectors else b""
        elif format_ == 3:
            packed = zlib.decompress(packed)
        text = msgspec.msgpack.decode(packed)
        if format_ == 1:
            *sections, outbox = text
        else:
            outbox = text.pop("outbox", [])
            assert all(deletes or puts for deletes, puts in text.values())
            sections = [text.pop(name) for name in MODEL_NAMES if name in text]
            assert not text
        for row in (row for _, puts in sections for row in puts):
            # From format 4 on these stand behind the rows, in the same order.
            if format_ >= 4 and row[0] == "embedding":
                row[5], vectors = vectors[: row[6]], vectors[row[6] :]
            elif format_ >= 4 and row[0] == "token_vectors":
                row[5:8], tokens = tokens[:3], tokens[3:]
        assert not vectors
        assert not tokens
        rows = [plain(row[1:]) for _, puts in sections for row in puts]
        assert rows == [list(row.values()) for table in said["puts"].values() for row in table]
        deletes = [[table, key] for found, _ in sections for table, key in found]
        assert sorted(deletes) == sorted(
            [table, key] for table, found in said["deletes"].items() for key in found
        )
        assert plain(outbox) == said["outbox"]


def inflated(packed: bytes, dictionary: bytes = b"") -> bytes:
    return zlib.decompressobj(-15, dictionary).decompress(packed)


def hkdf(material: bytes, info: bytes) -> bytes:
    """HKDF-SHA256 for 32 bytes (RFC 5869): one block of expansion."""
    extracted = hmac.digest(bytes(32), material, hashlib.sha256)
    return hmac.digest(extracted, info + b"\x01", hashlib.sha256)


def test_no_row_has_two_names_for_one_table() -> None:
    assert len({row.TABLE for row in get_args(AnyRow)}) == len(get_args(AnyRow))
    assert set(ROW_OF_TABLE) == {row.TABLE for row in get_args(AnyRow)}


def test_golden_records_are_never_written_again(tmp_path: Path) -> None:
    copy = tmp_path / "golden"
    shutil.copytree(GOLDEN, copy)
    for name in ("records-v1", "records-again"):
        made = subprocess.run(
            [sys.executable, copy / "make.py", name],
            cwd=ROOT,
            env={"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
        )
        assert made.returncode == 1
        assert "never written again" in made.stderr or "every sample" in made.stderr
    for path in GOLDEN.iterdir():
        if path.is_file():
            assert (copy / path.name).read_bytes() == path.read_bytes()
    assert not (copy / "records-again.jsonl").exists()
