"""E, what nobody else has, and D and A where a user sees it at once: the rows that stand.

One plain test or more of each, by commands as a user gives them; where an extensive test stands
elsewhere, the docstring cites it. E9 and D1 on Kafka are in tests/kafka/test_promises.py.
"""

from __future__ import annotations

import ast
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollect.streams.encoder.encoder import Encoder
from tests.kill.commands import Recollect
from tests.memory import Memory
from tests.promises.kit import Shell, said
from tests.recall.kit import EncodedHome, ask, cited, say, tell

HERE = Path(__file__).parent
#: What stands, and what comes: E6 has no recorded completions yet.
STANDS = ("E1", "E2", "E3", "E4", "E5", "E6", "E8", "E9", "E11", "D1", "D2")
COMES = {
    "E7": "a branch of a zone comes with the page and operations",
    "E10": "the page comes after the query service",
}


def test_every_promise_that_stands_has_a_test_that_names_it() -> None:
    names = {
        node.name
        for path in (Path(__file__), HERE.parent / "kafka" / "test_promises.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
    }
    for promise in STANDS:
        assert any(name.startswith(f"test_{promise}_") for name in names), promise
    for promise in COMES:
        assert not any(name.startswith(f"test_{promise}_") for name in names), promise


def current(shell: Shell, file: str) -> Path:
    """Return a file of the generation in use."""
    zone = shell.home / "zones" / "default"
    return zone / (zone / "CURRENT").read_text().strip() / file


def change(path: Path, statement: str) -> None:
    """Change a file by hand, as anybody could who has it."""
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute(statement).rowcount == 1


# --- E1: proof of rebuild -------------------------------------------------------------------------


def test_E1_verify_shows_by_hash_that_every_read_model_comes_out_the_same(shell: Shell) -> None:
    """tests/protocol/integrity/test_verify changes every column of every table."""
    shell.ingest(said("I live in Turin.", "a"), said("I work for Larch with Bob.", "b"))
    found = shell("verify")
    assert found["ok"]
    assert found["ledger_ok"]
    assert [model["model"] for model in found["models"]] == [
        *("events", "memory", "identity", "embeddings")
    ]
    assert all(model["hash"] == model["replayed"] for model in found["models"])
    changed = "UPDATE facts SET as_of = as_of + 1 WHERE text LIKE '%Turin%'"
    change(current(shell, "memory.db"), changed)
    ended = shell.run("verify")
    assert ended.status == 1
    assert "memory.facts" in ended.errors


# --- E2: time travel ------------------------------------------------------------------------------


def test_E2_recall_answers_as_of_what_was_known_and_of_what_was_true(shell: Shell) -> None:
    """tests/recall/test_past and test_validity have any history."""
    known = [
        shell.ingest(said(f"I live in {city}.", city, occurred_at=f"{year}-01-01T10:00:00Z"))
        for city, year in (("Rome", 2020), ("Oslo", 2022), ("Lima", 2024))
    ]
    then = shell.facts("Where does Ada live?", "--known-at", known[1]["token"])
    assert sorted(then) == ["Ada lives in Oslo.", "Ada lives in Rome."]
    true = shell.recall("live", "--scope", "facts", "--valid-at", "2023-01-01T00:00:00Z")
    assert [item["text"] for item in true if not item["is_stale"]] == ["Ada lives in Oslo."]


# --- E3: re-derive beside the old -----------------------------------------------------------------


def test_E3_a_generation_is_built_beside_the_old_and_the_old_is_there_to_go_back_to(
    shell: Shell,
) -> None:
    """The semantic diff, and a cut-over as a step of its own, come with consolidation."""
    shell.ingest(said("I live in Turin.", "a"))
    first = shell("status")["generation"]
    second = shell("rebuild", "--level", "derive")["generation"]
    assert second != first
    shell.ingest(said("I work at Larch.", "b"))
    assert shell("rollback")["generation"] == first
    # It was brought up to date first.
    assert set(shell.facts("Ada")) == {"Ada lives in Turin.", "Ada works at Larch."}
    assert shell("verify")["ok"]


# --- E4: explain ----------------------------------------------------------------------------------


def test_E4_why_goes_from_a_result_down_to_its_events(shell: Shell) -> None:
    shell.ingest(said("I live in Turin.", "a"))
    (fact,) = shell.recall("Turin", "--scope", "facts")
    chain = shell("why", fact["id"])
    assert chain["source_event_ids"] == ["a"]
    assert any("rule writer" in step["description"] for step in chain["steps"])


def test_E4_why_says_why_a_memory_was_not_recalled(shell: Shell) -> None:
    """tests/recall/answer/test_explaining has every reason."""
    shell.ingest(
        said("I live in Turin.", "old", occurred_at="2020-01-01T10:00:00Z"),
        said("Turin is rainy.", "new", occurred_at="2025-01-01T10:00:00Z"),
    )
    (old,) = shell.recall("Turin", "--scope", "events", "--before", "2021-01-01T00:00:00Z")
    asked = ("--query", "Turin", "--after", "2024-01-01T00:00:00Z")
    reason = shell("why", old["id"], *asked)["recall"]
    assert reason["dropped_by"] == "filter"
    assert "time_after" in reason["reason"]


# --- E5: exactly once -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "place", ["append.keys", "append.committed", "commit.produced", "commit.memory"]
)
def test_E5_killed_at_any_moment_nothing_is_lost_and_nothing_doubled(
    shell: Shell, place: str
) -> None:
    """tests.kill kills at every place and at random ones, tests.storm three workers and brokers."""
    path = shell.export(*(said(f"I own dog number {n}.", f"d{n}") for n in range(50)))
    killed = Recollect(shell.home).run(["ingest", str(path)], failpoint=place)
    assert killed.killed
    shell("ingest", str(path))
    status = shell("status")
    assert (status["events"], status["lag"], status["dead_letters"]) == (50, 0, 0)
    assert sorted(shell.cited("dog", "-k", "100")) == sorted(f"d{n}" for n in range(50))
    assert shell("verify")["ok"]


# --- E6: model calls are recorded -----------------------------------------------------------------


class Unplugged(EncodedHome):
    """The same home where the encoder cannot be loaded."""

    def load_encoder(self) -> Encoder:
        raise AssertionError("a replay asked the encoder")


def test_E6_a_replay_makes_no_call(room: Path) -> None:
    """Of vectors, the one kind of model that is asked today; completions come with the writer."""
    EncodedHome.create_or_open(room / "home", without_encoder=True)
    with Memory(EncodedHome(room / "home")) as memory:
        tell(memory, [say("I own a dog.", "dog"), say("I sold the car.", "car", peer_id="b")])
    with Memory(Unplugged(room / "home")) as memory:
        for level in ("index", "project", "derive"):
            memory.rebuild(level)
        assert memory.verify().ok
        memory.forget("car")
    with Memory(EncodedHome(room / "home")) as memory:
        assert cited(ask(memory, "hound"))[0] == "dog"


# --- E8: erasure with proof -----------------------------------------------------------------------


def test_E8_forgetting_removes_from_every_layer_and_a_rebuild_brings_nothing_back(
    shell: Shell,
) -> None:
    """tests.residue looks at the bytes of every file; the rule is in docs/commit.md."""
    shell.ingest(
        said("I live in Turin.", "a1"),
        said("Gwendolyn keeps bees in Quetta.", "g1", sender_id="u-gwen", sender_name="Gwendolyn"),
        said("My bees made honey.", "g2", sender_id="u-gwen", sender_name="Gwendolyn"),
    )
    gone = shell("forget", "--sender", "u-gwen")
    assert sorted(gone["forgotten"]) == ["g1", "g2"]
    for level in ("", "index", "project", "derive"):
        if level:
            shell("rebuild", "--level", level)
        assert list(shell.entities("Gwendolyn")) == []
        assert shell.cited("bees honey Quetta") in ([], ["a1"])
        assert shell("verify")["ok"]
        for path in (path for path in shell.home.rglob("*") if path.is_file()):
            raw = path.read_bytes().lower()
            for word in (b"gwendolyn", b"u-gwen", b"quetta"):
                assert word not in raw, (word, path)
    # Nor does importing it again.
    again = shell.ingest(said("My bees made honey.", "g2", sender_id="u-gwen"))
    assert again["new"] == 0
    assert "g2" not in shell.cited("honey")


# --- E11: tamper evidence -------------------------------------------------------------------------


@pytest.mark.parametrize("topic", ["events", "changes"])
def test_E11_verify_finds_a_changed_record(shell: Shell, topic: str) -> None:
    shell.ingest(*(said(f"I own dog number {n}.", f"d{n}") for n in range(5)))
    with closing(sqlite3.connect(shell.home / "ledger.db")) as connection, connection:
        ((row, value),) = connection.execute(
            f"SELECT rowid, value FROM {topic} ORDER BY rowid LIMIT 1 OFFSET 2"
        ).fetchall()
        changed = bytes(value[:-1]) + bytes([value[-1] ^ 1])
        connection.execute(f"UPDATE {topic} SET value = ? WHERE rowid = ?", (changed, row))
    ended = shell.run("verify")
    assert ended.status == 1
    assert f"{topic}/" in ended.errors


def test_E11_a_head_kept_elsewhere_finds_a_ledger_that_was_rolled_back(shell: Shell) -> None:
    """tests/protocol has a ledger that was cut off, and one that was chained anew."""
    shell.ingest(said("I live in Turin.", "a"))
    shutil.copytree(shell.home, shell.room / "backup")
    head = shell.ingest(said("I work at Larch.", "b"))["head"]
    assert shell("verify", "--expect", head)["ok"]
    assert head == shell("status")["head"]
    shutil.rmtree(shell.home)
    shutil.copytree(shell.room / "backup", shell.home)
    assert shell("verify")["ok"]
    assert shell.run("verify", "--expect", head).status == 1


# --- D: the shape ---------------------------------------------------------------------------------


@pytest.mark.parametrize("lost", ["zones", "driver.db", "memory.db", "identity.db", "events.db"])
def test_D2_everything_derived_is_made_again_from_the_ledger(shell: Shell, lost: str) -> None:
    shell.ingest(said("I live in Turin.", "a"), said("I work for Larch with Bob.", "b"))
    before = shell("verify")["models"], shell.recall("Where does Ada live?")
    if lost in ("zones", "driver.db"):
        path = shell.home / lost
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    else:
        current(shell, lost).unlink()
    for level in ("project", "derive"):
        shell("rebuild", "--level", level)
        assert (shell("verify")["models"], shell.recall("Where does Ada live?")) == before


# --- A: where a user sees it at once --------------------------------------------------------------


def test_A1_an_event_keeps_its_delivery_context(shell: Shell) -> None:
    context = {
        "peer_id": "C42",
        "peer_kind": "channel",
        "thread_id": "t1",
        "session_id": "s1",
        "direction": "in",
        "reply_to": "b0",
    }
    shell.ingest(said("Look!", "a", **context, attachments=[{"type": "image", "caption": "heron"}]))
    with closing(sqlite3.connect(current(shell, "events.db"))) as connection:
        connection.row_factory = sqlite3.Row
        row = dict(connection.execute("SELECT * FROM events").fetchone())
    assert {name: row[name] for name in context} == context
    assert (row["platform"], row["sender_id"], row["sender_name"]) == ("chat", "u-ada", "Ada")
    assert shell.cited("heron") == ["a"]


def test_A4_all_facts_about_someone(shell: Shell) -> None:
    shell.ingest(
        said("I work for Larch with Bob.", "a"),
        said("I met Bob in Lyon.", "b"),
        said("I own a boat.", "c"),
    )
    assert sorted(shell.facts("What about him?", "--entity", "Bob")) == [
        "Ada met Bob in Lyon.",
        "Ada works for Larch with Bob.",
    ]


def test_A5_a_cause_is_followed(shell: Shell) -> None:
    shell.ingest(
        said("The storm flooded the bridge. Therefore, the road was closed.", "a"),
    )
    with closing(sqlite3.connect(current(shell, "memory.db"))) as connection:
        links = connection.execute(
            "SELECT cause.text, effect.text FROM causal_links "
            "JOIN facts AS cause ON cause.id = from_fact_id "
            "JOIN facts AS effect ON effect.id = to_fact_id"
        ).fetchall()
    assert links == [("Ada: The storm flooded the bridge.", "Ada: Therefore, the road was closed.")]


def test_A7_a_turn_marks_its_events_processed_and_other_events_are_by_themselves(
    shell: Shell,
) -> None:
    def processed() -> int:
        with closing(sqlite3.connect(current(shell, "memory.db"))) as connection:
            ((count,),) = connection.execute("SELECT count(*) FROM memory_processing_log")
        return int(count)

    shell.ingest(said("I own a boat.", "alone"))
    assert processed() == 1
    # Of an agent that was silent for an hour nobody waits for an end.
    now = datetime.now(UTC).isoformat()
    shell.ingest(said("I live in Turin.", "in a turn", turn_id="T", occurred_at=now))
    assert processed() == 1  # the turn goes on
    shell.ingest(said("", "end", kind="turn_completed", turn_id="T", occurred_at=now))
    assert processed() == 3
    assert "Ada lives in Turin." in shell.facts("Turin")


def test_A12_a_mental_model_has_versions(room: Path) -> None:
    EncodedHome.create_or_open(room / "home", without_encoder=True)
    with Memory(EncodedHome(room / "home")) as memory:
        memory.create_mental_model("Ada", "Ada lives in Turin.")
        (first,) = ask(memory, "Ada", scope=("mental_models",))
        memory.update_mental_model(first.id, "Ada lives in Oslo.")
        (second,) = ask(memory, "Ada", scope=("mental_models",))
        assert second.text == "Ada: Ada lives in Oslo."
        with memory.node.open(memory.zone, memory.node.current(memory.zone)) as files:
            versions = files.memory.connection.execute(
                "SELECT id, parent_id, description FROM mental_models ORDER BY number"
            ).fetchall()
        assert versions == [
            (first.id, None, "Ada lives in Turin."),
            (second.id, first.id, "Ada lives in Oslo."),
        ]


def test_A16_a_merge_is_executed_above_the_threshold_and_every_one_can_be_undone(
    room: Path,
) -> None:
    EncodedHome.create_or_open(room / "home", without_encoder=True)
    with Memory(EncodedHome(room / "home")) as memory:
        tell(memory, [say("I like tea.", "a", by="Alex"), say("I like jam.", "b", by="Sasha")])
        ids = [ask(memory, name, scope=("entities",))[0].id for name in ("Alex", "Sasha")]
        memory.propose_merge(ids[0], ids[1], 0.5, "they may be one")
        assert cited(ask(memory, "like", entity="Alex")) == ["a"]
        memory.propose_merge(ids[0], ids[1], 0.95, "they said so")
        assert sorted(cited(ask(memory, "like", entity="Alex"))) == ["a", "b"]
        with memory.node.open(memory.zone, memory.node.current(memory.zone)) as files:
            ((merge,),) = files.identity.connection.execute(
                "SELECT id FROM merges WHERE reason = 'they said so'"
            ).fetchall()
        memory.decide_merge(str(merge), "undone")
        assert cited(ask(memory, "like", entity="Alex")) == ["a"]


def test_A21_a_near_duplicate_is_skipped_and_says_so(shell: Shell) -> None:
    shell.ingest(
        said("I live in Turin.", "a"),
        said("I live in Turin!", "b", occurred_at="2026-01-05T18:00:00Z"),
        said("I live in Turin.", "c", occurred_at="2026-03-05T18:00:00Z"),
    )
    with closing(sqlite3.connect(current(shell, "memory.db"))) as connection:
        repeats = connection.execute("SELECT reason FROM fact_occasions").fetchall()
        ((facts,),) = connection.execute("SELECT count(*) FROM facts").fetchall()
    assert repeats == [("said again: the same words",)] * 2
    assert facts == 1
