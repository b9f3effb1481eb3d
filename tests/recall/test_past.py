"""Time travel (E2): recall answers as it did then, but for what was forgotten since."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect import Query
from recollect.cli.app import run
from recollect.home.consistency_token import LedgerPosition
from recollect.home.home_directory import Home
from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Draft, Forget
from recollect.schemas.wire import RebuildLevel, Scope
from recollect.streams.projecting.snapshots import MAX_SNAPSHOTS
from recollect.streams.publishing.commands import command
from tests.memory import Memory
from tests.protocol.kit import files_holding, in_memory
from tests.recall.conftest import Open
from tests.recall.kit import DAY, HOUR, START, EncodedHome, cited, plain, say, tell
from tests.slow_parameters import slow_except

QUESTIONS = [
    Query("Where does Ada live?", explain=True),
    Query("Who owns a hound?", scope=("facts",), budget="high", explain=True),
    Query("dog", scope=("events",), budget="low", max_results=3),
    Query("Grace Hopper", scope=("entities", "events", "facts", "mental_models")),
    Query("admiral", scope=("mental_models",)),
    Query("car", platform="mail", time_after=START, time_before=START + 40 * DAY),
    Query("boat", entity="Ada"),
]


def answers(
    memory: Memory, known_at: int | LedgerPosition | None = None
) -> list[list[dict[str, Any]]]:
    return [plain(memory.recall(query, known_at=known_at)) for query in QUESTIONS]


def day(number: int, *said: str, **fields: Any) -> list[Draft]:
    """Return a message of a day, which reached the ledger at the time that it was written."""
    at = START + number * DAY
    return [
        say(text, f"d{number}-{place}", at=at + place, ingested_at=at + place, **fields)
        for place, text in enumerate(said)
    ]


DAYS = [
    day(0, "I live in Rome.", "I own a dog.", "I met Grace Hopper."),
    day(1, "I own a puppy.", "I bought a boat.", "Grace Hopper owns a car.", by="Bob"),
    day(2, "I live in Oslo.", "I sold the boat because it leaked."),
    day(3, "I drove the automobile.", "I own a dog.", platform="mail"),
    day(4, "I live in Rome.", "The hound saw the physician."),
]


def forget(number: int) -> Draft:
    payload = Forget(source_id=f"forget:{number}", targets=(number,))
    return command(payload, START)


def token(memory: Memory) -> LedgerPosition:
    return LedgerPosition.parse(memory.consistency_token())


class TestAsThen:
    """What was answered at the time, to the last digit of a score."""

    def told(self, memory: Memory) -> list[tuple[int, LedgerPosition, list[list[dict[str, Any]]]]]:
        """Tell one day after the other; return (its end, the ledger's, what was answered)."""
        saved = []
        for number, drafts in enumerate(DAYS):
            tell(memory, drafts)
            saved.append((START + number * DAY + HOUR, token(memory), answers(memory)))
        assert len({str(answer) for _, _, answer in saved}) == len(DAYS)
        return saved

    def test_by_time_and_by_token(self, memory: Memory, open_memory: Open) -> None:
        saved = self.told(memory)
        for one in (memory, open_memory()):
            for at, place, expected in (*saved, *reversed(saved)):
                assert answers(one, at) == expected
                assert answers(one, place) == expected

    def test_whatever_was_rebuilt_since(self, memory: Memory, open_memory: Open) -> None:
        saved = self.told(memory)
        assert answers(memory, saved[1][0]) == saved[1][2]
        levels: tuple[RebuildLevel, ...] = ("index", "project", "derive")
        for level in levels:
            memory.rebuild(level)
            for one in (memory, open_memory()):
                for at, _, expected in saved:
                    assert answers(one, at) == expected
        memory.rollback()
        assert answers(open_memory(), saved[2][0]) == saved[2][2]

    def test_without_an_encoder(self, words_only: Memory) -> None:
        for at, _, expected in self.told(words_only):
            assert answers(words_only, at) == expected

    def test_of_merges_and_of_mental_models(self, memory: Memory) -> None:
        tell(memory, [say("I met Grace Hopper.", "a"), say("I met Gracie Hopper.", "b")])
        memory.create_mental_model("Grace", "An admiral")
        before, expected = token(memory), answers(memory)
        (model,) = memory.recall(QUESTIONS[4]).results
        memory.update_mental_model(model.id, "A rear admiral")
        grace, gracie = (
            memory.recall(Query(name, scope=("entities",))).results[0].id
            for name in ("Grace Hopper", "Gracie Hopper")
        )
        memory.propose_merge(grace, gracie, 0.99, "the same voice")
        assert answers(memory) != expected
        assert answers(memory, before) == expected

    def test_before_anything_was_known_and_after_everything_was(self, memory: Memory) -> None:
        saved = self.told(memory)
        assert all(answer == [] for answer in answers(memory, START - 1))
        assert answers(memory, START + 100 * DAY) == saved[-1][2]
        (only,) = memory.recall(Query("Rome"), known_at=START).results
        assert only.source_event_ids == ["d0-0"]

    def test_what_was_said_late_is_known_since_it_came(self, memory: Memory) -> None:
        """A moment is a beginning of the ledger, whatever dates its records bear."""
        tell(memory, DAYS[4])
        first = answers(memory)
        tell(memory, [say("I own a zeppelin.", "old", at=START, ingested_at=START + 9 * DAY)])
        assert answers(memory, START + 8 * DAY) == first
        assert "old" in cited(memory.recall(Query("zeppelin")).results)

    def test_what_says_that_it_comes_in_2199_hides_nothing(self, memory: Memory) -> None:
        """Trace: any later time answered the state before it, for ever."""
        tell(memory, [say("I own a zeppelin.", "far", ingested_at=7_226_582_400_000)])
        tell(memory, DAYS[0])
        now = time.time_ns() // 1_000_000
        assert answers(memory, now) == answers(memory)
        assert "far" in cited(memory.recall(Query("zeppelin"), known_at=now).results)

    def test_a_token_of_another_zone_is_refused(self, memory: Memory) -> None:
        tell(memory, DAYS[0])
        place = token(memory)
        with pytest.raises(InvalidInput, match="not a token of zone"):
            answers(memory, LedgerPosition((place.partition + 1) % 12, place.offset, place.number))


class TestForgotten:
    """What was forgotten does not come back from the past, in answers or in bytes."""

    SECRET = "I own a zeppelin called Brindlewick."

    @pytest.fixture
    def past(self, memory: Memory) -> tuple[Memory, int]:
        """A memory with a secret in it, which has been asked about the past."""
        tell(memory, [*DAYS[0], say(self.SECRET, "secret", at=START + HOUR, ingested_at=START + 9)])
        for drafts in DAYS[1:]:
            tell(memory, drafts)
        at = START + DAY
        assert "secret" in cited(memory.recall(Query("zeppelin"), known_at=at).results)
        assert files_holding(self.past_of(memory), b"Brindlewick")
        return memory, at

    def past_of(self, memory: Memory) -> Path:
        return memory.home.directory / "zones" / "default" / "past"

    def found(self, memory: Memory, at: int) -> str:
        scopes: tuple[Scope, ...] = ("events", "facts", "entities")
        return " ".join(
            result.text
            for scope in scopes
            for text in ("zeppelin", "Brindlewick", self.SECRET)
            for result in memory.recall(Query(text, scope=(scope,)), known_at=at).results
        )

    def test_by_whoever_asks(self, past: tuple[Memory, int], open_memory: Open) -> None:
        memory, at = past
        reader = open_memory()
        assert "Brindlewick" in self.found(reader, at)
        memory.forget("secret")
        for one in (reader, memory, open_memory()):
            found = self.found(one, at)
            assert found
            assert "eppelin" not in found
            assert "Brindlewick" not in found
            assert not files_holding(memory.home.directory, b"Brindlewick", b"eppelin")

    def test_as_soon_as_it_is_in_the_ledger(self, past: tuple[Memory, int]) -> None:
        memory, at = past
        memory.node.ledger.publish(memory.zone, [forget(4)])
        assert "Brindlewick" not in self.found(memory, at)
        memory.drive()
        assert "Brindlewick" not in self.found(memory, at)
        assert not files_holding(memory.home.directory, b"Brindlewick")

    def test_while_another_asks(self, past: tuple[Memory, int], open_memory: Open) -> None:
        """A moment that somebody has open is deleted all the same."""
        memory, at = past
        reader = open_memory()
        self.found(reader, at)
        self.found(reader, START + 2 * DAY)
        memory.forget("secret")
        assert not files_holding(memory.home.directory, b"Brindlewick")
        assert "Brindlewick" not in self.found(reader, at)

    def test_what_was_forgotten_before_is_as_it_was(self, memory: Memory) -> None:
        tell(memory, [*DAYS[0], say(self.SECRET, "secret", at=START + 9, ingested_at=START + 9)])
        memory.forget("secret")
        place, expected = token(memory), answers(memory)
        tell(memory, DAYS[1])
        assert answers(memory, place) == expected


WORDS = st.sampled_from(
    [
        "I live in Rome.",
        "I live in Oslo.",
        "I own a dog.",
        "I own a dog. I live in Paris.",
        "I met Grace Hopper.",
        "Grace Hopper owns a car.",
        "I work for Acme. I own a boat.",
        "It rained because the sky was grey.",
        "ok",
    ]
)


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[tuple[str, str]], list[list[int]], int]:
    """What two people said, which of it is forgotten in which order, and a moment."""
    said = draw(st.lists(st.tuples(st.sampled_from(["Ada", "Bob"]), WORDS), min_size=2, max_size=8))
    places = st.integers(0, len(said) - 1)
    forgotten = draw(st.lists(st.lists(places, min_size=1, max_size=2), min_size=1, max_size=2))
    return said, forgotten, draw(st.integers(1, len(said)))


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(histories())
def test_the_past_is_as_if_what_was_forgotten_since_had_never_been_said(
    history: tuple[list[tuple[str, str]], list[list[int]], int],
) -> None:
    said, forgotten, moment = history
    drafts = [
        say(text, f"m{place}", by=by, at=START + place * HOUR, ingested_at=START + place)
        for place, (by, text) in enumerate(said)
    ]
    gone = {place for some in forgotten for place in some}
    with in_memory() as room:
        found = []
        for name in ("forgets", "never-told"):
            Home.create_or_open(room / name, without_encoder=True)
            with Memory(EncodedHome(room / name)) as memory:
                if name == "forgets":
                    tell(memory, drafts)
                    answers(memory, START + moment - 1)
                    already: set[int] = set()
                    for some in forgotten:
                        if new := sorted(set(some) - already):
                            memory.forget(*(f"m{place}" for place in new))
                            already |= set(new)
                    found.append(answers(memory, START + moment - 1))
                else:
                    kept = [draft for place, draft in enumerate(drafts) if place not in gone]
                    told = [draft for draft in kept if int(draft.payload.source_id[1:]) < moment]
                    if told:
                        tell(memory, told)
                    found.append(answers(memory))
        assert found[0] == found[1]


class TestKept:
    """Moments stay open for the next question: few, whole, and right."""

    def past_of(self, memory: Memory) -> Path:
        return memory.home.directory / "zones" / "default" / "past"

    def told(self, memory: Memory, count: int) -> None:
        tell(
            memory,
            [
                say(f"I own dog {place}.", f"m{place}", at=START + place, ingested_at=START + place)
                for place in range(count)
            ],
        )

    def test_few(self, memory: Memory) -> None:
        self.told(memory, 3 * MAX_SNAPSHOTS)
        for place in range(2 * MAX_SNAPSHOTS):
            results = memory.recall(Query("dog", max_results=99), known_at=START + place)
            assert len(results.results) == place + 1
        assert len(list(self.past_of(memory).iterdir())) == MAX_SNAPSHOTS

    def test_one_that_was_not_finished_is_made_again(
        self, memory: Memory, open_memory: Open
    ) -> None:
        self.told(memory, 4)
        expected = plain(memory.recall(Query("dog"), known_at=START + 1))
        (kept,) = self.past_of(memory).iterdir()
        (kept / "moment.json").unlink()
        (kept / "memory.db").write_bytes(b"torn")
        assert plain(open_memory().recall(Query("dog"), known_at=START + 1)) == expected

    @pytest.mark.parametrize(
        "step",
        slow_except(("commit.memory",), ("commit.memory", "commit.identity", "commit.embeddings")),
    )
    def test_whoever_is_killed_while_making_one_leaves_nothing_that_is_asked(
        self, words_only: Memory, step: str
    ) -> None:
        self.told(words_only, 4)
        start = "from recollect.cli import main; main()"
        asked = ("recall", "dog", "--known-at", str(START + 1))
        killed = subprocess.run(
            [sys.executable, "-c", start, "--home", str(words_only.home.directory), *asked],
            env={**os.environ, "RECOLLECT_FAILPOINT": step},
            check=False,
            capture_output=True,
        )
        assert killed.returncode == -signal.SIGKILL
        (torn,) = self.past_of(words_only).iterdir()
        results = words_only.recall(Query("dog"), known_at=START + 1).results
        assert sorted(cited(results)) == ["m0", "m1"]
        words_only.forget("m0")
        assert not torn.exists()

    def test_one_that_is_whole_is_not_made_again(self, memory: Memory, open_memory: Open) -> None:
        self.told(memory, 4)
        expected = plain(memory.recall(Query("dog"), known_at=START + 1))
        (kept,) = self.past_of(memory).iterdir()
        made = (kept / "memory.db").stat().st_ino
        assert plain(open_memory().recall(Query("dog"), known_at=START + 1)) == expected
        assert (kept / "memory.db").stat().st_ino == made

    def test_one_that_is_deleted_while_it_is_open_still_answers(self, memory: Memory) -> None:
        self.told(memory, 4)
        expected = plain(memory.recall(Query("dog"), known_at=START + 1))
        shutil.rmtree(self.past_of(memory))
        assert plain(memory.recall(Query("dog"), known_at=START + 1)) == expected

    def test_verify_and_rebuild_do_not_mind(self, memory: Memory) -> None:
        self.told(memory, 4)
        expected = plain(memory.recall(Query("dog"), known_at=START + 1))
        memory.rebuild("project")
        assert memory.verify().ok
        assert plain(memory.recall(Query("dog"), known_at=START + 1)) == expected


def test_on_the_command_line(capfd: pytest.CaptureFixture[str]) -> None:
    with tempfile.TemporaryDirectory() as room:
        home = Path(room) / "home"
        with Memory(Home.create_or_open(home, without_encoder=True)) as memory:
            tell(memory, DAYS[0])
            place = memory.consistency_token()
            tell(memory, DAYS[2])
        batch = Path(room) / "batch"
        batch.write_text(
            json.dumps({"id": 1, "query": "live", "known_at": place})
            + "\n"
            + json.dumps({"id": 2, "query": "live", "known_at": START + 9 * DAY})
            + "\n"
        )

        def days(*arguments: str) -> list[set[str]]:
            """Return on which days was said what each line cites."""
            capfd.readouterr()
            assert run(["--home", str(home), "recall", *arguments, "--json"]) == 0
            lines = capfd.readouterr().out.splitlines()
            return [
                {
                    id_[:2]
                    for item in json.loads(line)["results"]
                    for id_ in item["source_event_ids"]
                }
                for line in lines
            ]

        assert days("live", "--known-at", "2026-01-06T10:00:00Z") == [{"d0"}]
        assert days("live", "--known-at", place) == [{"d0"}]
        assert days("live", "--known-at", str(START + 2 * DAY)) == [{"d0", "d2"}]
        assert days("--batch", str(batch)) == [{"d0"}, {"d0", "d2"}]
        assert days("--batch", str(batch), "--known-at", place) == [{"d0"}, {"d0", "d2"}]
        assert run(["--home", str(home), "recall", "live", "--known-at", "yesterday"]) == 2
