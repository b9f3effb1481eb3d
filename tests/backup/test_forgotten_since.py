"""What was forgotten after a backup was made does not come back with it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from recollect import Recollect
from recollect.schemas.errors import Busy
from recollect.schemas.events import Forget
from recollect.streams.ledger.embedded_ledger import EmbeddedLedger
from recollect.streams.publishing.commands import command
from tests.backup.kit import WORDS, Homes, Json, line, rows
from tests.slow_parameters import slow_except

#: Each way to choose what is forgotten, and which words must be gone then.
WAYS = (
    (("m-1",), ("m-1",)),
    (("--thread", "attic"), ("m-2", "m-3")),
    (("--sender", "u9"), ("m-4",)),
    (("--entity", "Irina Ravogukolimuk"), ("m-5",)),
    (("--after", "2026-05-05T12:00:00Z", "--before", "2026-05-06T12:00:00Z"), ("m-6",)),
    # With every version of it.
    (("m-7e",), ("m-7",)),
)


def forget_in_every_way(homes: Homes) -> list[str]:
    """Forget, and return the words that are gone."""
    gone = []
    for chosen, ids in WAYS:
        assert homes.well("forget", *chosen, "--yes", "--json").json["events"] > 0, chosen
        gone += [WORDS[id_] for id_ in ids]
    return gone


def left_in(homes: Homes, gone: list[str]) -> None:
    """See that a home holds what was kept, and nothing of what went, wherever one looks."""
    assert homes.traces(*gone) == []
    assert homes.traces(WORDS["m-8"]), "the search finds what stays"
    assert set(homes.contents()) == {"m-8", "m-9"}
    for word in gone:
        assert (
            homes.well("recall", word, "--json").json["results"] == []
            or word
            not in homes.well("recall", word, "--json", "--scope", "events,facts,entities").out
        )
    homes.whole()


def test_nothing_that_was_forgotten_in_any_way_is_in_a_byte_of_the_restored_home(
    homes: Homes,
) -> None:
    before = homes.traces(*WORDS.values())
    assert {where.rpartition(": ")[2] for where in before} == {
        repr(word[2:].encode()) for word in WORDS.values()
    }
    gone = forget_in_every_way(homes)
    report = homes.restored()
    assert report["erasures_known"] is True
    assert (report["forgotten"], report["events_lost"]) == (8, 0)
    left_in(homes, gone)
    # Nor is it there for whoever looks into the past, makes files again, or asks again.
    for level in ("project", "derive"):
        homes.well("rebuild", "--level", level)
        left_in(homes, gone)
    homes.well("rollback")
    left_in(homes, gone)
    ended = homes.well("forget", "m-1", "--yes", "--json").json
    assert (ended["already_forgotten"], ended["events"]) == (["m-1"], 0)
    # What was imported before counts as a duplicate, whether it was forgotten or not.
    again = homes.ingest(line("m-1", f"Ada lives in Berlin near the {WORDS['m-1']}.", day=1))
    assert (again["new"], again["duplicate"]) == (0, 1)
    left_in(homes, gone)
    # A backup of it has nothing of that either.
    homes.well("backup", str(homes.room / "second"))
    other = homes.other("from-second")
    other.restored(path=homes.room / "second")
    left_in(other, gone)


def test_restoring_twice_is_as_restoring_once(homes: Homes) -> None:
    gone = forget_in_every_way(homes)
    first = homes.restored()
    models = homes.whole()["models"]
    second = homes.restored()
    assert (second["forgotten"], second["events_lost"], second["events"]) == (8, 0, first["events"])
    assert homes.whole()["models"] == models
    left_in(homes, gone)


def test_what_is_newer_is_lost_only_by_consent_and_what_was_forgotten_of_it_stays_so(
    homes: Homes,
) -> None:
    newer = [line("n-1", "Ada sold the nopuvakolimuk.", day=11), line("n-2", "Ben has a tulozek.")]
    homes.ingest(*newer)
    homes.ingest(line("n-1", "Somebody said a nopuvakolimuk."), zone="new")
    homes.well("forget", "n-1", "--yes")
    homes.well("forget", "m-1", "--yes")
    ended = homes.refused()
    assert ended.status == 2
    assert "2 events" in ended.err
    assert "1 in zone default, 1 in zone new" in ended.err
    assert "--lose-newer" in ended.err
    report = homes.restored("--lose-newer")
    assert (report["events_lost"], report["forgotten"]) == (2, 1)
    assert "n-2" not in homes.contents()
    assert homes.traces(WORDS["m-1"], "nopuvakolimuk") == []
    # An import brings back what was lost, and not what was forgotten.
    again = homes.ingest(*newer)
    assert (again["new"], again["duplicate"]) == (1, 1)
    assert homes.traces("nopuvakolimuk") == []
    homes.whole()
    assert homes.well("forget", "n-1", "--yes", "--json").json["already_forgotten"] == ["n-1"]


def test_on_another_machine_nothing_is_known_unless_a_place_is_named(homes: Homes) -> None:
    homes.well("forget", "m-1", "--yes")
    homes.well("backup", str(homes.room / "later"))
    homes.well("forget", "m-4", "--yes")
    there = homes.other("there")
    ended = there.well("restore", str(homes.backup))
    assert "data forgotten since then has been restored" in ended.err
    assert there.traces(WORDS["m-1"])
    report = there.restored("--erasures-from", str(homes.room / "later"))
    assert (report["erasures_known"], report["forgotten"]) == (True, 1)
    assert there.traces(WORDS["m-1"]) == []
    assert there.traces(WORDS["m-4"])
    third = homes.other("third")
    report = third.restored(
        *("--erasures-from", str(homes.room / "later"), "--erasures-from", str(homes.home))
    )
    assert report["forgotten"] == 2
    assert third.traces(WORDS["m-1"], WORDS["m-4"]) == []


def test_a_place_that_is_no_later_state_of_the_home_tells_nothing(homes: Homes) -> None:
    stranger = homes.other("stranger")
    stranger.well("init", "--encoder", "none")
    stranger.ingest(line("m-1", "Ada lives in Berlin."))
    there = homes.other("there")
    (homes.room / "nothing").mkdir()
    for place in ("stranger", "nothing", "missing"):
        ended = there.refused("--erasures-from", str(homes.room / place))
        assert place in ended.err
    # A home is not replaced by that of another.
    ended = stranger.refused()
    assert "is not the home that was backed up" in ended.err
    stranger.refused("--lose-newer", "--forgotten-may-return")
    (homes.room / "thesis").mkdir()
    (homes.room / "thesis" / "chapter").write_text("mine")
    homes.other("thesis").refused()


def damaged(homes: Homes, what: str) -> None:
    """Damage a home's ledger, or its keys, or both."""
    for name in what.split("+"):
        file, _, how = name.partition(":")
        path = homes.home / file
        for log in ("-wal", "-shm"):
            path.with_name(path.name + log).unlink(missing_ok=True)
        if how == "gone":
            path.unlink()
        elif how == "cut":
            os.truncate(path, path.stat().st_size // 2)
        elif how == "noise":
            path.write_bytes(os.urandom(path.stat().st_size))
        else:
            # A page in the middle.
            with path.open("r+b") as pages:
                pages.seek(path.stat().st_size // 2)
                pages.write(os.urandom(1_024))


@pytest.mark.parametrize(
    "what",
    slow_except(
        ("ledger.db:gone", "ledger.db:page"),
        (
            *("ledger.db:gone", "ledger.db:cut", "ledger.db:noise", "ledger.db:page"),
            "ledger.db:noise+ledger.json:noise",
        ),
    ),
)
def test_of_a_ledger_that_is_damaged_the_keys_tell_what_was_forgotten(
    homes: Homes, what: str
) -> None:
    gone = forget_in_every_way(homes)
    damaged(homes, what)
    if what != "ledger.db:page":
        assert "--lose-newer" in homes.refused().err
    report = homes.restored("--lose-newer")
    assert (report["forgotten"], report["erasures_known"]) == (8, True)
    left_in(homes, gone)


def test_where_the_keys_are_lost_the_ledger_tells_it(homes: Homes) -> None:
    gone = forget_in_every_way(homes)
    damaged(homes, "keys.db:gone")
    report = homes.restored()
    assert (report["forgotten"], report["events_lost"], report["erasures_known"]) == (8, 0, True)
    left_in(homes, gone)


@pytest.mark.parametrize("what", ["ledger.db:gone+keys.db:gone", "ledger.db:noise+keys.db:noise"])
def test_where_nothing_can_tell_it_somebody_must_say_that_it_may_return(
    homes: Homes, what: str
) -> None:
    homes.well("backup", str(homes.room / "later"))
    homes.well("forget", "m-1", "--yes")
    homes.well("backup", str(homes.room / "latest"))
    damaged(homes, what)
    homes.refused()
    ended = homes.refused("--lose-newer")
    assert ended.status == 2
    assert "--forgotten-may-return" in ended.err
    # A later backup tells a part of it, and nobody knows whether it is all.
    homes.refused("--lose-newer", "--erasures-from", str(homes.room / "latest"))
    report = homes.restored(
        *("--lose-newer", "--forgotten-may-return", "--erasures-from", str(homes.room / "latest"))
    )
    assert report["events_lost"] is None
    assert homes.traces(WORDS["m-1"]) == []


def test_histories_that_have_parted_tell_it_by_the_sources_ids(homes: Homes) -> None:
    """The same words were imported again after an older backup was restored."""
    more: list[Json] = [
        line("p-1", "Ada found a sepavukolimuk.", day=12),
        line("p-2", "Ben lost a mokaruzolimuk.", day=13),
        line("p-1e", "Ada found two sepavukolimuk.", day=14, kind="edit", target="p-1",
             said_at="2026-05-12T10:00:00Z"),
    ]  # fmt: skip
    homes.ingest(*more)
    homes.well("backup", str(homes.room / "longer"))
    homes.restored("--lose-newer")
    # In another order, and without the edit.
    homes.ingest(more[1])
    homes.ingest(more[0])
    homes.well("forget", "p-1", "--yes")
    homes.well("forget", "m-3", "--yes")
    report = homes.restored(path=homes.room / "longer")
    assert report["events_lost"] == 0
    assert homes.traces("sepavukolimuk", WORDS["m-3"]) == []
    assert homes.traces("mokaruzolimuk")
    assert "p-2" in homes.contents()
    assert "p-1e" not in homes.contents()


def test_an_erasure_that_was_asked_for_when_the_backup_was_made_is_carried_out(
    homes: Homes,
) -> None:
    """The command is in the ledger, and the process died before it was decided."""
    ledger = EmbeddedLedger(homes.home)
    ledger.publish("default", [command(Forget(source_id="forget:1", targets=(1,)), 1)])
    ledger.close()
    with Recollect(homes.home) as r:
        r.backup(homes.room / "waiting")
    there = homes.other("there")
    there.restored(path=homes.room / "waiting")
    assert there.traces(WORDS["m-1"]) == []
    assert "m-1" not in there.contents()


def test_a_token_that_was_revoked_since_opens_nothing_again(homes: Homes) -> None:
    def made(of: Homes) -> str:
        return str(of.well("token", "create", "--rights", "read", "--json").json["id"])

    def held(of: Homes) -> set[str]:
        listed = of.well("token", "list", "--json").out.splitlines()
        return {json.loads(found)["id"] for found in listed}

    kept, revoked, revoked_later = (made(homes) for _ in range(3))
    homes.well("backup", str(homes.room / "tokens"))
    since = made(homes)
    homes.well("token", "revoke", revoked)
    homes.well("backup", str(homes.room / "later"))
    homes.well("token", "revoke", revoked_later)
    report = homes.restored(path=homes.room / "tokens")
    assert held(homes) == {kept, since}
    assert (report["tokens"], report["tokens_revoked"]) == (2, 2)
    there = homes.other("there")
    report = there.restored(
        "--erasures-from", str(homes.room / "later"), path=homes.room / "tokens"
    )
    assert held(there) == {kept, revoked_later}
    third = homes.other("third")
    assert third.restored(path=homes.room / "tokens")["tokens"] == 3
    # Where the home's own cannot be read, none is taken for one that was not revoked.
    (third.home / "tokens.json").write_text("{")
    assert third.restored(path=homes.room / "tokens")["tokens_revoked"] == 3
    assert not (third.home / "tokens.json").exists()


def test_what_is_no_part_of_a_home_stays_in_its_directory(homes: Homes) -> None:
    (homes.home / "recollect.toml").write_text("ticks = false\n")
    (homes.home / "notes.txt").write_text("mine")
    (homes.home / "operations.json").write_text("[]")
    homes.restored()
    assert (homes.home / "recollect.toml").read_text() == "ticks = false\n"
    assert (homes.home / "notes.txt").read_text() == "mine"
    assert not (homes.home / "operations.json").exists()
    other = homes.other("fresh")
    other.well("init", "--encoder", "none")
    assert other.restored()["events"] == 11
    moved = homes.other("moved")
    shutil.copytree(homes.home, moved.home)
    settings = json.loads((moved.home / "home.json").read_text())
    settings["promoted_to"] = "kafka://127.0.0.1:1"
    (moved.home / "home.json").write_text(json.dumps(settings))
    assert "on Kafka" in moved.refused("--lose-newer", "--forgotten-may-return").err
    linked = homes.other("linked")
    shutil.copytree(homes.home, linked.home)
    (linked.home / "zones").rename(homes.room / "zones-elsewhere")
    (linked.home / "zones").symlink_to(homes.room / "zones-elsewhere")
    assert "symbolic link" in linked.refused().err
    assert (homes.room / "zones-elsewhere" / "default").is_dir()


def test_a_home_that_is_in_use_is_left_alone(homes: Homes) -> None:
    with Recollect(homes.home) as r:
        assert "stop it" in homes.refused().err
        with pytest.raises(Busy):
            Recollect.restore(homes.home, homes.backup)
        assert r.zone("default").recall("bicycle").results
    homes.restored()


def test_paths_that_lie_in_one_another_are_refused(homes: Homes) -> None:
    inside = homes.home / "backup"
    shutil.copytree(homes.backup, inside)
    assert "or contains it" in homes.refused(path=inside).err
    assert "or contains it" in homes.refused("--erasures-from", str(homes.home)).err
    outside = Homes(homes.backup, "home")
    assert "or contains it" in outside.refused(path=homes.backup).err


def test_no_key_of_what_is_not_in_the_ledger_any_more_is_left(homes: Homes) -> None:
    homes.ingest(line("n-1", "Ada sold a boat."))
    keys = {bytes(key) for (key,) in rows(homes.home / "keys.db", "SELECT key FROM keys")}
    old = {bytes(key) for (key,) in rows(homes.backup / "keys.db", "SELECT key FROM keys")}
    homes.restored("--lose-newer")
    (newer,) = keys - old
    assert all(newer not in path.read_bytes() for path in files(homes.home))
    assert not list(homes.home.glob("restoring*"))


def files(directory: Path) -> list[Path]:
    return [path for path in directory.rglob("*") if path.is_file()]
