"""One open home under many threads, with another process at work on the same files.

What is asserted are answers: what was ingested before a question is found, what was forgotten
before it is not, and nothing is found that nobody said.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from recollect import Recollect, Zone
from recollect.home import home_directory as homes
from recollect.home.home_directory import Home
from recollect.projections.recall import Recaller
from recollect.schemas.errors import Busy
from recollect.schemas.wire import RebuildLevel, RecallAnswer
from recollect.streams.encoder.catalog import BGE_SMALL
from recollect.streams.encoder.pin import Pin
from tests.library.kit import said
from tests.recall.kit import ConceptEncoder, EncodedHome

ROOT = Path(__file__).resolve().parents[3]
EVENTS = 60
OTHERS = 20


class Told:
    """What a test has told a zone, and what it has had forgotten."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.held: set[str] = set()
        self.going: set[str] = set()
        self.gone: set[str] = set()

    def tell(self, word: str) -> None:
        with self._lock:
            self.held.add(word)

    def begin_to_forget(self, word: str) -> None:
        with self._lock:
            self.held.discard(word)
            self.going.add(word)

    def forgot(self, word: str) -> None:
        with self._lock:
            self.going.discard(word)
            self.gone.add(word)

    def now(self) -> tuple[set[str], set[str]]:
        """Return what must be found from now on, unless it is forgotten, and what must not be."""
        with self._lock:
            return set(self.held), set(self.gone)


class Workers:
    """Threads, of which each error is the test's."""

    def __init__(self) -> None:
        self._errors: list[BaseException] = []
        self._threads: list[threading.Thread] = []

    def start(self, work: Callable[[], object]) -> threading.Thread:
        def run() -> None:
            try:
                work()
            except BaseException as error:
                self._errors.append(error)

        thread = threading.Thread(target=run, daemon=True)
        self._threads.append(thread)
        thread.start()
        return thread

    def end(self) -> None:
        for thread in self._threads:
            thread.join(170)
            assert not thread.is_alive()
        for error in self._errors:
            raise error


@contextmanager
def workers() -> Iterator[Workers]:
    made = Workers()
    yield made
    made.end()


@pytest.fixture
def home(tmp_path: Path) -> EncodedHome:
    Home.create_or_open(tmp_path / "home", without_encoder=True)
    return EncodedHome(tmp_path / "home")


def _ask(ada: Zone, told: Told, draw: random.Random) -> None:
    """Ask for one of the words, and see that the answer is what was told and not forgotten."""
    held, gone = told.now()
    if not held:
        return
    word = draw.choice(sorted(held))
    answer = ada.recall(word, scope=("events",), max_results=50)
    cited = {id_ for result in answer.results for id_ in result.source_event_ids}
    assert not cited & gone, "what was forgotten is answered"
    if word in told.now()[0]:
        assert word in cited, f"{word} was told and is not found"
    for result in answer.results:
        (source,) = result.source_event_ids
        assert source == "first" or source in result.text


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_everybody_at_once_beside_another_process(home: EncodedHome) -> None:
    told, done = Told(), threading.Event()
    forgotten = [f"qx{number}zy" for number in range(0, EVENTS, 6)]
    with Recollect(home) as r:
        ada = r.zone("ada")
        ada.ingest(said("first", "The first of all stands here."))
        command = [
            sys.executable,
            "-m",
            "tests.library.processes.other_process",
            str(home.directory),
        ]
        other = subprocess.Popen(
            [*command, str(OTHERS)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stderr=subprocess.PIPE,
            text=True,
        )

        def ingest(first: int) -> None:
            for number in range(first, EVENTS, 2):
                word = f"qx{number}zy"
                ada.ingest(said(word, f"I keep {word} in a box.", minute=number))
                told.tell(word)

        def forget() -> None:
            for word in forgotten:
                while word not in told.now()[0]:
                    if done.wait(0.01):
                        return
                told.begin_to_forget(word)
                assert ada.forget(word).events == 1
                told.forgot(word)

        def rebuild() -> None:
            levels: tuple[RebuildLevel, ...] = ("index", "project", "derive", "project", "derive")
            for level in levels:
                try:
                    ada.rebuild(level)
                except Busy:
                    # The other process rebuilds.
                    continue

        def ask(seed: int) -> None:
            draw = random.Random(seed)
            while not done.is_set():
                _ask(ada, told, draw)

        asking, writing = Workers(), Workers()
        for seed in range(4):
            asking.start(lambda seed=seed: ask(seed))  # type: ignore[misc]
        for work in (lambda: ingest(0), lambda: ingest(1), forget, rebuild):
            writing.start(work)
        try:
            writing.end()
            _, errors = other.communicate(timeout=600)
        finally:
            done.set()
        asking.end()
        assert other.returncode == 0, errors
        found = ada.verify()
        assert found.ok, found.problems
        held, gone = told.now()
        assert gone == set(forgotten)
        assert held == {f"qx{number}zy" for number in range(EVENTS)} - gone
        for word in (*held, *(f"other{number}zy" for number in range(OTHERS))):
            best = ada.recall(word, scope=("events",)).results[0]
            assert best.source_event_ids == [word]
        assert ada.status().events == 1 + len(held) + OTHERS
    # And so says who opens it anew.
    with Recollect(home) as r:
        assert r.zone("ada").verify().ok


def test_many_zones_at_once(home: EncodedHome) -> None:
    with Recollect(home) as r:

        def live(name: str) -> None:
            zone = r.zone(name)
            for number in range(3):
                zone.ingest(said(f"{name}{number}", f"{name} owns boat {number}.", minute=number))
                cited = {
                    id_
                    for result in zone.recall("boat", scope=("events",)).results
                    for id_ in result.source_event_ids
                }
                assert cited == {f"{name}{earlier}" for earlier in range(number + 1)}
            zone.forget(f"{name}1")
            assert zone.status().events == 2

        names = [f"zone{number}" for number in range(12)]
        with workers() as at_work:
            for name in names:
                at_work.start(lambda name=name: live(name))  # type: ignore[misc]
        assert r.zones() == sorted(names)


def test_who_asks_waits_for_nobody_who_writes(home: EncodedHome) -> None:
    with Recollect(home) as r:
        ada = r.zone("ada")
        ada.ingest([said("m1", "I own a boat."), said("m2", "It is blue.", minute=1)])
        held, go_on = threading.Event(), threading.Event()
        node = ada._zone.node

        def write() -> None:
            """Be in the midst of a publication, of a decision and of an encoding."""
            ledger, files = node.ledger._file, ada._zone.files()  # type: ignore[attr-defined]
            with ExitStack() as stack:
                stack.enter_context(node.gateway._lock)
                stack.enter_context(ledger.writing())
                stack.enter_context(node.driving("ada"))
                stack.enter_context(stack.enter_context(files).locked())
                held.set()
                assert go_on.wait(120)

        with workers() as at_work:
            at_work.start(write)
            assert held.wait(60)
            try:
                with workers() as asking:
                    # In threads, so that one that waits for ever fails the test.
                    asking.start(lambda: _cites(ada, "boat", ["m1"]))
                    asking.start(lambda: _cites(ada, "blue", ["m2"]))
                    asking.start(lambda: ada.why("m1"))
                    asking.start(ada.dead_letters)
                    asking.start(ada.exists)
                    asking.start(ada.head)
            finally:
                go_on.set()
        _cites(ada, "boat", ["m1"])


def _cites(zone: Zone, question: str, sources: list[str], **fields: object) -> None:
    assert zone.recall(question, scope=("events",), **fields).results[0].source_event_ids == sources


def test_a_question_outlives_the_generation_that_it_began_with(
    home: EncodedHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    recall = Recaller.recall
    lent, go_on = threading.Event(), threading.Event()

    def slow(recaller: Recaller, *asked: Any) -> RecallAnswer:
        if not lent.is_set():
            lent.set()
            assert go_on.wait(120)
        return recall(recaller, *asked)

    with Recollect(home) as r:
        ada = r.zone("ada")
        ada.ingest(said("m1", "I own a boat."))
        monkeypatch.setattr(Recaller, "recall", slow)
        with workers() as at_work:
            at_work.start(lambda: _cites(ada, "boat", ["m1"]))
            assert lent.wait(60)
            try:
                generations = {ada.rebuild("project").generation for _ in range(3)}
                assert len(generations) == 3
                _cites(ada, "boat", ["m1"])
            finally:
                go_on.set()
        kept = {path.name for path in (home.directory / "zones" / "ada").glob("g*")}
        assert len(kept & generations) == 2
        assert not _open_files_of(home.directory / "zones" / "ada", but=kept)


def _open_files_of(directory: Path, *, but: set[str]) -> list[str]:
    """Return the files below a directory that this process has open, outside some of it."""
    found = []
    for link in Path("/proc/self/fd").iterdir():
        try:
            target = os.readlink(link)
        except OSError:
            continue
        inside = target.removeprefix(f"{directory}/")
        if inside != target and inside.split("/")[0] not in but:
            found.append(target)
    return found


def test_a_generation_that_goes_before_it_is_opened_is_passed_over(
    home: EncodedHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Recollect(home) as r:
        ada = r.zone("ada")
        ada.ingest(said("m1", "I own a boat."))
        node = ada._zone.node
        open_to_read, rebuilt = node.open_to_read, list[object]()

        def late(*asked: object) -> object:
            if not rebuilt:
                rebuilt.append(ada.rebuild("project"))
                rebuilt.append(ada.rebuild("project"))
            return open_to_read(*asked)  # type: ignore[arg-type]

        monkeypatch.setattr(node, "open_to_read", late)
        _cites(ada, "boat", ["m1"])
        assert len(rebuilt) == 2


def test_what_was_forgotten_leaves_the_past_that_is_open(home: EncodedHome) -> None:
    with Recollect(home) as r:
        ada = r.zone("ada")
        token = ada.ingest([said("m1", "I own a boat."), said("m2", "It is blue.")]).token
        ada.ingest(said("m3", "It sank.", minute=9))
        _cites(ada, "boat", ["m1"], known_at=token)
        with workers() as at_work:
            for _ in range(4):
                at_work.start(lambda: _cites(ada, "blue", ["m2"], known_at=token))
        ada.forget("m1")
        cited = [result.source_event_ids for result in ada.recall("boat", known_at=token).results]
        assert ["m1"] not in cited


def test_one_model_serves_all_homes_of_a_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin = Pin(
        name="concepts",
        precision="int8",
        source="directory",
        place="here",
        revision="",
        sha256="1" * 64,
        tokenizer_sha256="2" * 64,
        config_sha256="3" * 64,
        dimension=ConceptEncoder.dimension,
        settings=BGE_SMALL.settings,
    )
    loaded: list[Pin] = []

    def load(wanted: Pin, *, cache: Path) -> ConceptEncoder:
        loaded.append(wanted)
        return ConceptEncoder()

    monkeypatch.setattr(homes, "load", load)

    def opened(name: str) -> Recollect:
        made = Home.create_or_open(tmp_path / name, without_encoder=True)
        made.settings = msgspec.structs.replace(made.settings, encoder=pin)
        return Recollect(made)

    one, other = opened("one"), opened("other")
    try:
        with workers() as at_work:
            for r in (one, one, other, other):
                at_work.start(lambda r=r: r.zone("ada").ingest(said("m1", "I own a dog.")))  # type: ignore[misc]
        assert loaded == [pin]
        for r in (one, other):
            assert r.zone("ada").recall("puppy").results[0].source_event_ids == ["m1"]
        assert loaded == [pin]
    finally:
        one.close()
        other.close()
