"""An erasure certificate: what it says, that no word is in it, and that it can be checked."""

from __future__ import annotations

import hashlib
import json
import secrets
import sqlite3
from contextlib import closing, suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from recollect.operations.erasure.certifying import check, read_certificate
from recollect.schemas.errors import InjectedFailure, InvalidInput
from recollect.schemas.ledger.records import read_event
from recollect.streams.ledger import EVENTS, partition_of
from recollect.streams.ledger.embedded_ledger import EmbeddedLedger
from recollect.streams.system import failpoints
from tests.forget.kit import ZONE, Recollect, line


def random_name() -> str:
    """A name that stands nowhere else."""
    letters = "bcdfghklmnprstvwz"
    return "Q" + "".join(secrets.choice(letters) + secrets.choice("aeiou") for _ in range(6))


def certified(recollect: Recollect, *arguments: str, name: str = "certificate.json") -> Path:
    """Forget with a certificate; return its file."""
    path = recollect.home.parent / name
    recollect.run("forget", *arguments, "--certificate", str(path))
    return path


def checked(recollect: Recollect, path: Path) -> Any:
    """Return the status, and what `verify` says of a certificate."""
    ended = recollect.end("verify", "--certificate", str(path))
    return ended.status, ended.answer and ended.answer["certificate"], ended.said


def test_it_states_what_went_and_holds_later(recollect: Recollect) -> None:
    recollect.ingest(line("1", "I live in Turin."), line("2", "I have a boat."))
    before = recollect.run("status")["head"]
    path = certified(recollect, "1")
    held = json.loads(path.read_text())
    said = held["statement"]
    assert said["head_before"] == before
    assert said["head_after"].startswith("3:")
    assert said["replayed_to"] == said["head_after"]
    assert [record["number"] for record in said["erased"]] == [1]
    assert {row["model"] for row in said["rows"]} >= {"events", "memory"}
    assert said["request"]["selectors"] == ["ids"]
    assert said["request"]["ids"] == 1
    assert all(file["hash"] == file["replayed"] for file in said["replay"])
    assert said["scan"]["keys"] == 1
    assert said["scan"]["files"] >= 5
    recollect.ingest(line("3", "I moved to Genoa."))
    recollect.run("rebuild", "--level", "derive")
    status, found, _ = checked(recollect, path)
    assert status == 0
    assert found["ok"]
    assert found["problems"] == []


def test_its_hash_is_that_of_the_sorted_json(recollect: Recollect) -> None:
    recollect.ingest(line("1", "I live in Turin."))
    held = json.loads(certified(recollect, "1").read_text())
    text = json.dumps(
        held["statement"], sort_keys=True, separators=(",", ":"), ensure_ascii=False
    ).encode()
    assert hashlib.sha256(text).hexdigest() == held["sha256"]


def test_its_keys_are_the_ones_that_the_ledger_lost(recollect: Recollect) -> None:
    recollect.ingest(line("1", "I live in Turin."), line("2", "I have a boat."))
    before = key_ids(recollect)
    said = json.loads(certified(recollect, "2").read_text())["statement"]
    (record,) = said["erased"]
    assert before[record["number"]] == record["key_id"]
    gone = set(stored_keys(recollect.home)) ^ set(before.values())
    assert record["key_id"] in gone


@pytest.mark.parametrize("by", ["--entity", "id", "--sender", "--thread"])
def test_no_word_and_no_name_is_in_it(recollect: Recollect, by: str) -> None:
    name, word, handle = random_name(), random_name().lower(), random_name().lower()
    id_ = f"m-{word}"
    recollect.ingest(
        line(
            id_,
            f"My password is {word}.",
            sender_id=handle,
            sender_name=name,
            thread_id=f"t-{handle}",
        ),
        line("2", f"I met {name} in Rome.", sender_id="bob", sender_name="Bob"),
    )
    asked = {
        "--entity": ["--entity", name],
        "id": [id_],
        "--sender": ["--sender", handle],
        "--thread": ["--thread", f"t-{handle}"],
    }[by]
    path = certified(recollect, *asked)
    everything = path.read_text().lower() + json.dumps(recollect.run("certificates")).lower()
    for secret in (name, word, handle, id_, ZONE):
        assert secret.lower() not in everything
    assert not recollect.left(word)


def key_ids(recollect: Recollect) -> dict[int, str]:
    """Return the ids of the keys of all events, by number."""
    ledger = EmbeddedLedger(recollect.home)
    try:
        records = ledger.read(EVENTS, partition_of(ZONE), 0, 1_000, ZONE)
        envelopes = [read_event(record.value)[0] for record in records]
    finally:
        ledger.close()
    return {envelope.number: envelope.key_id.hex() for envelope in envelopes}


def stored_keys(home: Path) -> dict[str, bytes]:
    """Return the keys in keys.db, by id."""
    with closing(sqlite3.connect(home / "keys.db")) as connection:
        return {id_.hex(): key for id_, key in connection.execute("SELECT key_id, key FROM keys")}


def paths_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths to all plain values in a JSON document."""
    if isinstance(value, dict):
        return [p for key, item in value.items() for p in paths_of(item, (*path, key))]
    if isinstance(value, list):
        return [p for at, item in enumerate(value) for p in paths_of(item, (*path, at))]
    return [path]


def changed(value: Any) -> Any:
    """Return another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    return value[:-1] + ("0" if value[-1] != "0" else "1")


def test_a_change_of_any_value_is_found(recollect: Recollect) -> None:
    recollect.ingest(line("1", "I live in Turin."))
    held = json.loads(certified(recollect, "1").read_text())
    paths = paths_of(held)
    assert len(paths) > 40
    with recollect.memory() as memory:
        now = memory.verify()
        for steps in paths:
            forged = deepcopy(held)
            inside = forged
            for step in steps[:-1]:
                inside = inside[step]
            inside[steps[-1]] = changed(inside[steps[-1]])
            with suppress(InvalidInput):
                found = check(memory._zone, read_certificate(json.dumps(forged).encode(), ""), now)
                assert not found.ok, steps
                assert found.problems, steps


@pytest.mark.parametrize("number", [0, -1, 3_000, 2**62, 2**64 - 1])
def test_any_number_of_an_erasure_is_checked(recollect: Recollect, number: int) -> None:
    recollect.ingest(line("1", "I live in Turin."))
    path = certified(recollect, "1")
    held = json.loads(path.read_text())
    held["statement"]["erasure"] = number
    path.write_text(json.dumps(held))
    status, found, _ = checked(recollect, path)
    assert status == 1
    assert not found["in_ledger"]


def test_a_forged_statement_with_its_own_hash_is_found(recollect: Recollect) -> None:
    recollect.ingest(line("1", "I live in Turin."), line("2", "I have a boat."))
    path = certified(recollect, "1")
    held = json.loads(path.read_text())
    held["statement"]["issued_at"] = "2020-01-01T00:00:00.000Z"
    text = json.dumps(held["statement"], sort_keys=True, separators=(",", ":")).encode()
    held["sha256"] = hashlib.sha256(text).hexdigest()
    path.write_text(json.dumps(held))
    status, found, _ = checked(recollect, path)
    assert status == 1
    assert found["unchanged"]
    assert not found["issued_here"]
    assert not found["recorded"]


@pytest.mark.parametrize(
    "forge",
    [
        lambda held: {**held, "note": "more"},
        lambda held: {**held, "statement": {**held["statement"], "note": "more"}},
        lambda held: {name: held[name] for name in ("statement", "sha256", "seal")},
        lambda held: [held],
    ],
)
def test_another_document_is_no_certificate(recollect: Recollect, forge: Any) -> None:
    recollect.ingest(line("1", "I live in Turin."))
    path = certified(recollect, "1")
    path.write_text(json.dumps(forge(json.loads(path.read_text()))))
    status, _, said = checked(recollect, path)
    assert status == 2
    assert "is not a certificate, or was modified" in said


def test_a_key_that_was_put_back_is_found(recollect: Recollect) -> None:
    recollect.ingest(line("1", "I live in Turin."))
    keys = stored_keys(recollect.home)
    path = certified(recollect, "1")
    (gone,) = json.loads(path.read_text())["statement"]["erased"]
    with closing(sqlite3.connect(recollect.home / "keys.db")) as connection, connection:
        key_id = gone["key_id"]
        connection.execute("INSERT INTO keys VALUES (?, ?)", (bytes.fromhex(key_id), keys[key_id]))
    status, found, _ = checked(recollect, path)
    assert status == 1
    assert not found["keys_gone"]
    assert found["unchanged"]
    assert found["in_ledger"]


def test_another_zone_or_home_has_not_issued_it(recollect: Recollect, tmp_path: Path) -> None:
    recollect.ingest(line("1", "I live in Turin."))
    recollect.ingest(line("1", "I live in Turin."), zone="other")
    path = certified(recollect, "1")
    ended = recollect.end("--zone", "other", "verify", "--certificate", str(path))
    assert ended.status == 1
    assert not ended.answer["certificate"]["issued_here"]
    assert not ended.answer["certificate"]["in_ledger"]


def test_an_erasure_that_leaves_a_key_in_a_file_is_not_certified(recollect: Recollect) -> None:
    recollect.ingest(line("1", "I live in Turin."))
    (key,) = stored_keys(recollect.home).values()
    copy = recollect.home / "keys.copy"
    copy.write_bytes(b"x" * 12_345 + key)
    path = recollect.home.parent / "certificate.json"
    ended = recollect.end("forget", "1", "--certificate", str(path))
    assert ended.status == 1
    assert "keys.copy contains a destroyed key" in ended.said
    assert not path.exists()
    assert recollect.run("certificates") == {"certificates": []}
    copy.unlink()
    found = json.loads(certified(recollect, "1").read_text())["statement"]
    assert found["rows"] is None
    assert found["scan"]["keys"] == 0


@pytest.mark.parametrize("name", ["commit.locked", "commit.purged"])
def test_an_interrupted_erasure_gives_none_until_it_is_done(
    recollect: Recollect, name: str
) -> None:
    recollect.ingest(line("1", "I live in Turin."))
    path = recollect.home.parent / "certificate.json"
    failpoints.arm(name)
    with pytest.raises(InjectedFailure), recollect.memory() as memory:
        memory.forget("1", certificate=True)
    failpoints.disarm()
    assert not path.exists()
    recollect.run("status")
    assert recollect.run("certificates") == {"certificates": []}
    recollect.run("forget", "1", "--certificate", str(path))
    assert checked(recollect, path)[0] == 0


def test_what_is_forgotten_again_gets_the_same_certificate(recollect: Recollect) -> None:
    recollect.ingest(line("1", "I live in Turin."))
    first = certified(recollect, "1").read_bytes()
    assert certified(recollect, "1", name="again.json").read_bytes() == first
    (listed,) = recollect.run("certificates")["certificates"]
    held = json.loads(first)
    assert listed["sha256"] == held["sha256"]
    assert recollect.run("certificates", str(listed["erasure"])) == held
    assert recollect.end("certificates", "1").status == 2


def test_no_erasure_and_several_get_no_certificate(recollect: Recollect) -> None:
    recollect.ingest(line("1", "I live in Turin."), line("2", "I have a boat."))
    recollect.run("forget", "1")
    recollect.run("forget", "2")
    path = recollect.home.parent / "certificate.json"
    for asked in (["1", "2"], ["1", "--dry-run"], ["--sender", "nobody"]):
        assert recollect.end("forget", *asked, "--certificate", str(path)).status == 2
        assert not path.exists()


def test_a_file_that_exists_is_kept_and_nothing_erased(recollect: Recollect) -> None:
    recollect.ingest(line("1", "I live in Turin."))
    path = recollect.home.parent / "certificate.json"
    path.write_text("mine")
    assert recollect.end("forget", "1", "--certificate", str(path)).status == 2
    assert path.read_text() == "mine"
    assert recollect.run("status")["events"] == 1


def test_a_backup_holds_it_and_an_older_one_says_that_it_does_not(recollect: Recollect) -> None:
    recollect.ingest(line("1", "I live in Turin."), line("2", "I have a boat."))
    older, newer = recollect.home.parent / "older", recollect.home.parent / "newer"
    recollect.run("backup", str(older))
    path = certified(recollect, "1")
    recollect.run("backup", str(newer))
    recollect.run("restore", str(newer), "--lose-newer")
    assert checked(recollect, path)[0] == 0
    recollect.run("restore", str(older), "--lose-newer")
    status, found, _ = checked(recollect, path)
    assert status == 1
    assert found["unchanged"]
    assert found["issued_here"]
    assert found["keys_gone"]
    assert not found["recorded"]
    assert any("older backup" in problem for problem in found["problems"])


def test_a_process_that_was_open_before_sees_it(recollect: Recollect) -> None:
    recollect.ingest(line("1", "I live in Turin."))
    with recollect.memory() as memory:
        assert memory.certificates() == []
        path = certified(recollect, "1")
        held = read_certificate(path.read_bytes(), "")
        assert memory.certificate(held.statement.erasure) == held
        found = memory.verify(certificate=held)
        assert found.ok
        assert found.certificate is not None


def test_the_report_carries_the_certificate(recollect: Recollect) -> None:
    recollect.ingest(line("1", "I live in Turin."), line("2", "I have a boat."))
    with recollect.memory() as memory:
        assert memory.forget("1").certificate is None
        issued = memory.forget("2", certificate=True).certificate
        assert issued is not None
        assert memory.certificate(issued.statement.erasure) == issued
        with pytest.raises(InvalidInput, match="dry run"):
            memory.forget("2", dry_run=True, certificate=True)
