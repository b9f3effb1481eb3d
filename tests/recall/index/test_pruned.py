"""An index that lost rows is one that never had them: in memory, in its file, in every answer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from recollect import Query
from recollect.home.home_directory import Home
from recollect.projections.files import ZoneFiles
from recollect.projections.recall.index import zone_index
from recollect.projections.recall.index.arrays import array_store
from recollect.projections.recall.index.zone_index import Index
from recollect.schemas.events import Draft, Forget
from recollect.schemas.wire import Scope
from recollect.streams.publishing.commands import command, publish_commands
from tests.memory import Memory
from tests.protocol.kit import in_memory
from tests.recall.kit import (
    HOUR,
    MINUTE,
    START,
    EncodedHome,
    look_anew,
    plain,
    recaller_of,
    say,
    tell,
)

TEXTS = (
    "I own a dog.",
    "I own a hound, and it rained.",
    "I live in Rome.",
    "I live in Oslo. Who saw the boat?",
    "Grace Hopper visited Paris.",
    "My car broke, therefore I bought a boat.",
    "ok",
)
_ALL: tuple[Scope, ...] = ("events", "facts", "entities")
QUESTIONS = [
    Query("Who owns a hound?", budget="high", max_results=50, explain=True, scope=_ALL[:2]),
    Query("Where does Ada live?", max_results=50, explain=True, scope=("facts",)),
    Query("Grace Hopper in Paris", budget="high", max_results=50, scope=_ALL),
    Query("boat", budget="low", max_results=50, explain=True, scope=_ALL[:1]),
]

said = st.tuples(
    st.sampled_from(["Ada", "Bob", "Eve"]),
    st.sampled_from(["a", "b"]),
    st.sampled_from([MINUTE, HOUR, 7 * HOUR, -9 * HOUR]),
    st.sampled_from(TEXTS),
)
# Which of what was said, counted from its end.
chosen = st.sets(st.integers(0, 30), min_size=1, max_size=6)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.lists(said, min_size=1, max_size=8)),
        st.tuples(st.just("forget"), chosen),
        st.tuples(st.just("begin to forget"), chosen),
        st.tuples(st.sampled_from(["ask", "store", "restart", "rebuild", "drive"]), st.none()),
    ),
    min_size=2,
    max_size=9,
)


# A row between others is deleted, then the last, and a new row gets the rowid of the first.
GIVEN_AGAIN: tuple[list, list[tuple[str, object]]] = (
    [
        ("Ada", "a", MINUTE, "I own a dog."),
        ("Ada", "a", MINUTE, "Grace Hopper visited Paris."),
        ("Ada", "a", MINUTE, "Grace Hopper visited Paris."),
        ("Bob", "a", MINUTE, "I live in Rome."),
        ("Ada", "a", MINUTE, "I live in Rome."),
        ("Eve", "a", MINUTE, "I live in Rome."),
    ],
    [("forget", {1}), ("forget", {0, 3})],
)


@pytest.fixture(autouse=True)
def stored_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every index is worth a file."""
    monkeypatch.setattr(zone_index, "MIN_STORED_TURNS", 1)


def of_rows_alone(files: ZoneFiles) -> Index:
    anew = Index(files)
    anew.follow()
    return anew


def answers(memory: Memory) -> list:
    return [plain(memory.recall(query)) for query in QUESTIONS]


def answers_anew(memory: Memory, patch: pytest.MonkeyPatch) -> list:
    """Return the answers by an index that was made of the rows as they are."""
    with patch.context() as patched:
        patched.setattr(zone_index, "_load_stored", lambda files: None)
        patched.setattr(Index, "should_store", False)
        return answers(memory)


def differing(one: Index, other: Index) -> list[str]:
    expected, found = other.columns(), one.columns()
    assert found.keys() == expected.keys()
    return [name for name, values in expected.items() if not np.array_equal(found[name], values)]


class Zone:
    """A zone with one that writes and one that has asked before."""

    def __init__(self, room: Path, encoder: bool) -> None:
        self._room, self._encoder = room, encoder
        Home.create_or_open(room, without_encoder=True)
        self.opened: list[Memory] = []
        self.writer, self.reader = self.open(), self.open()
        self.said: list[str] = []
        self.at = START

    def open(self) -> Memory:
        self.opened.append(Memory((EncodedHome if self._encoder else Home)(self._room), "default"))
        return self.opened[-1]

    def take(self, step: str, given: object) -> None:
        getattr(self, "_" + step.replace(" ", "_"))(given)

    def _say(self, lines: list[tuple[str, str, int, str]]) -> None:
        drafts: list[Draft] = []
        for by, peer, step, text in lines:
            self.at += step
            id_ = f"m{self.at}-{len(drafts)}-{self.writer.node.ledger.head('default').number}"
            self.said.append(id_)
            drafts.append(say(text, id_, by=by, at=self.at, peer_id=peer))
        tell(self.writer, drafts)

    def _picked(self, chosen: set[int]) -> list[str]:
        picked = [self.said[-1 - back] for back in sorted(chosen) if back < len(self.said)]
        self.said = [id_ for id_ in self.said if id_ not in picked]
        return picked

    def _forget(self, chosen: set[int]) -> None:
        if picked := self._picked(chosen):
            self.writer.forget(*picked)

    def _begin_to_forget(self, chosen: set[int]) -> None:
        """Put the command into the ledger: whoever asks next finds no raw turn of it."""
        self.writer.drive()
        if not (picked := self._picked(chosen)):
            return
        with self.writer.node.open("default", self.writer.node.current("default")) as files:
            numbers = {
                str(source): int(number)
                for source, number in files.events.connection.execute(
                    "SELECT source_id, number FROM events"
                )
            }
        targets = tuple(sorted(numbers[id_] for id_ in picked))
        source = "forget:" + ",".join(map(str, targets))
        publish_commands(
            self.writer.node.ledger,
            "default",
            [command(Forget(source_id=source, targets=targets), START)],
        )

    def _ask(self, _: object) -> None:
        answers(self.reader)

    def _store(self, _: object) -> None:
        answers(self.reader)
        recaller_of(self.reader).store()

    def _restart(self, _: object) -> None:
        look_anew(self.reader)

    def _rebuild(self, _: object) -> None:
        self.writer.rebuild("index")

    def _drive(self, _: object) -> None:
        self.writer.drive()

    def close(self) -> None:
        for memory in self.opened:
            memory.close()


@pytest.mark.slow
@pytest.mark.parametrize("encoder", [True, False], ids=["encoder", "words"])
def test_an_index_that_lost_rows_is_one_that_never_had_them(
    encoder: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    @settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(said, min_size=3, max_size=12), steps)
    @example(*GIVEN_AGAIN)
    def check(first: list, taken: list[tuple[str, object]]) -> None:
        with in_memory() as room:
            zone = Zone(room, encoder)
            try:
                for step, given_ in [("say", first), *taken]:
                    zone.take(step, given_)
                    # The index that it has from before is what must lose the row.
                    answers(zone.reader)
                    same_as_anew(zone, monkeypatch)
            finally:
                zone.close()

    check()


def same_as_anew(zone: Zone, patch: pytest.MonkeyPatch) -> None:
    expected = answers_anew(zone.open(), patch)
    cold = zone.open()
    for one in (zone.reader, cold):
        assert answers(one) == expected
    node = zone.writer.node
    with node.open_to_read("default", node.current("default")) as files, files.read_transaction():
        anew = of_rows_alone(files)
        opened = Index.open(files)
        assert differing(opened, anew) == []
        kept = recaller_of(zone.reader)._index
        if kept is not None:
            assert differing(kept, anew) == []
    assert (files.directory / array_store.FILE).exists() or len(anew.turns) == 0
