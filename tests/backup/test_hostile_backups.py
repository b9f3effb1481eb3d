"""A backup may be damaged, or anybody's work: nothing of such a one gets into a home."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.backup.kit import Homes, line, rows, tree


def manifest(backup: Path) -> dict[str, Any]:
    return dict(json.loads((backup / "manifest.json").read_text()))


def written(backup: Path, **changed: Any) -> None:
    """Change a manifest, and have it describe the files as they are."""
    found = {**manifest(backup), **changed}
    for name in found["files"]:
        if (backup / name).is_file():
            raw = (backup / name).read_bytes()
            found["files"][name] = {"bytes": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}
    (backup / "manifest.json").write_text(json.dumps(found))


def sql(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def no_manifest(backup: Path) -> None:
    (backup / "manifest.json").unlink()


def no_json(backup: Path) -> None:
    (backup / "manifest.json").write_bytes(b"{\xff")


def half_a_manifest(backup: Path) -> None:
    path = backup / "manifest.json"
    path.write_bytes(path.read_bytes()[:200])


def of_a_newer_format(backup: Path) -> None:
    (backup / "manifest.json").write_text('{"format": 2, "all": "else"}')


def a_path_outside(backup: Path) -> None:
    """A file beside the backup, by a path that leads out of it."""
    (backup.parent / "outside").write_text("x")
    files = manifest(backup)["files"]
    files["../outside"] = {"bytes": 1, "sha256": hashlib.sha256(b"x").hexdigest()}
    written(backup, files=files)


def a_file_of_the_home(backup: Path) -> None:
    (backup / "CURRENT").write_text("x")
    files = manifest(backup)["files"]
    files["zones/default/CURRENT"] = {"bytes": 1, "sha256": hashlib.sha256(b"x").hexdigest()}
    written(backup, files=files)


def a_zone_outside(backup: Path) -> None:
    heads = manifest(backup)["heads"]
    written(backup, heads={**heads, "../../b": heads["b"]})


def a_zone_that_was_renamed(backup: Path) -> None:
    sql(backup / "ledger.db", "UPDATE zones SET name = '../../b' WHERE name = 'b'")
    heads = manifest(backup)["heads"]
    written(backup, heads={"default": heads["default"], "../../b": heads["b"]})


def a_link(backup: Path) -> None:
    shutil.copy(backup / "keys.db", backup.parent / "elsewhere.db")
    (backup / "keys.db").unlink()
    (backup / "keys.db").symlink_to(backup.parent / "elsewhere.db")


def a_linked_manifest(backup: Path) -> None:
    (backup / "manifest.json").rename(backup.parent / "m.json")
    (backup / "manifest.json").symlink_to(backup.parent / "m.json")


def a_pipe(backup: Path) -> None:
    (backup / "ledger.db").unlink()
    os.mkfifo(backup / "ledger.db")


def a_directory(backup: Path) -> None:
    (backup / "ledger.db").unlink()
    (backup / "ledger.db").mkdir()


def no_keys(backup: Path) -> None:
    (backup / "keys.db").unlink()


def keys_that_nobody_names(backup: Path) -> None:
    files = manifest(backup)["files"]
    del files["keys.db"]
    written(backup, files=files)


def a_ledger_that_was_cut(backup: Path) -> None:
    os.truncate(backup / "ledger.db", 4_096)


def a_ledger_that_was_cut_and_described(backup: Path) -> None:
    os.truncate(backup / "ledger.db", (backup / "ledger.db").stat().st_size - 8_192)
    written(backup)


def a_ledger_that_grew(backup: Path) -> None:
    with (backup / "ledger.db").open("ab") as file:
        file.write(b"more")


def noise(backup: Path) -> None:
    (backup / "ledger.db").write_bytes(os.urandom(20_480))
    written(backup)


def one_byte(backup: Path) -> None:
    """In the middle of a sealed record, with a manifest that fits."""
    path = backup / "ledger.db"
    ((value,),) = rows(path, "SELECT value FROM events LIMIT 1")
    raw = path.read_bytes()
    at = raw.index(value[-40:]) + 20
    path.write_bytes(raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :])
    written(backup)


def a_record_less(backup: Path) -> None:
    sql(backup / "ledger.db", "DELETE FROM events WHERE position IN "
        "(SELECT position FROM events ORDER BY position LIMIT 1 OFFSET 4)")  # fmt: skip
    written(backup)


def a_key_less(backup: Path) -> None:
    sql(backup / "keys.db", "DELETE FROM keys WHERE key_id IN (SELECT key_id FROM keys LIMIT 1)")
    written(backup)


def a_head_that_is_another(backup: Path) -> None:
    heads = manifest(backup)["heads"]
    written(backup, heads={**heads, "default": "11" + heads["default"][2:]})


def keys_that_come_back(backup: Path) -> None:
    """A trigger puts back what an erasure destroys."""
    sql(
        backup / "keys.db",
        "CREATE TRIGGER back AFTER DELETE ON keys BEGIN "
        "INSERT INTO keys VALUES (OLD.key_id, OLD.key); END",
    )
    written(backup)


def a_view(backup: Path) -> None:
    sql(backup / "ledger.db", "CREATE VIEW more AS SELECT * FROM events")
    written(backup)


def a_table_of_its_own(backup: Path) -> None:
    sql(backup / "keys.db", "CREATE TABLE more AS SELECT * FROM keys")
    written(backup)


def a_newer_ledger(backup: Path) -> None:
    sql(backup / "ledger.db", "PRAGMA user_version = 999")
    written(backup)


def settings_of_a_newer_home(backup: Path) -> None:
    written(backup, settings={"format": 99})


def settings_that_are_none(backup: Path) -> None:
    written(backup, settings=["x"])


def tokens_that_are_none(backup: Path) -> None:
    (backup / "tokens.json").write_text("{}")
    written(backup, files={**manifest(backup)["files"], "tokens.json": {"bytes": 0, "sha256": ""}})


DAMAGES: tuple[Callable[[Path], None], ...] = (
    *(no_manifest, no_json, half_a_manifest, of_a_newer_format, a_path_outside),
    *(a_file_of_the_home, a_zone_outside, a_zone_that_was_renamed, a_link, a_linked_manifest),
    *(a_pipe, a_directory, no_keys, keys_that_nobody_names, a_ledger_that_was_cut),
    *(a_ledger_that_was_cut_and_described, a_ledger_that_grew, noise, one_byte, a_record_less),
    *(a_key_less, a_head_that_is_another, keys_that_come_back, a_view, a_table_of_its_own),
    *(a_newer_ledger, settings_of_a_newer_home, settings_that_are_none, tokens_that_are_none),
)


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_what_is_no_whole_backup_is_refused_and_changes_nothing(
    homes: Homes, damage: Callable[[Path], None]
) -> None:
    damage(homes.backup)
    ended = homes.refused("--lose-newer", "--forgotten-may-return")
    assert "Traceback" not in ended.err
    assert not (homes.home / "restoring").exists()
    fresh = homes.other("fresh")
    assert fresh.run("restore", str(homes.backup)).status in (1, 2)
    assert not fresh.home.exists()


@pytest.mark.parametrize("newer", ["ledger.db", "keys.db"])
def test_files_of_two_backups_make_no_third(homes: Homes, newer: str) -> None:
    homes.well("forget", "m-1", "--yes")
    homes.ingest(line("n-1", "Ada has a boat."))
    homes.well("backup", str(homes.room / "later"))
    shutil.copy(homes.room / "later" / newer, homes.backup / newer)
    homes.refused("--lose-newer")
    written(homes.backup)
    homes.refused("--lose-newer")
    # And with the heads of that ledger.
    written(homes.backup, heads=manifest(homes.room / "later")["heads"])
    homes.refused("--lose-newer")


def test_what_lies_beside_its_files_does_not_get_into_the_home(homes: Homes) -> None:
    for name in ("ledger.db-wal", "ledger.db-journal", "keys.db-wal", "home.json", "payload"):
        (homes.backup / name).write_bytes(b"planted" * 1_000)
    (homes.backup / "zones").mkdir()
    (homes.backup / "zones" / "planted").write_bytes(b"planted")
    homes.restored()
    assert not [name for name, raw in tree(homes.home).items() if b"planted" in raw]
    assert "planted" not in str(list(homes.home.rglob("*")))


def test_a_damaged_place_of_erasures_is_refused_before_anything_is_done(homes: Homes) -> None:
    homes.well("forget", "m-1", "--yes")
    homes.well("backup", str(homes.room / "later"))
    later = homes.room / "later"
    os.truncate(later / "ledger.db", 4_096)
    there = homes.other("there")
    named = ("--erasures-from", str(later))
    assert there.run("restore", str(homes.backup), *named).status == 1
    assert not there.home.exists()
