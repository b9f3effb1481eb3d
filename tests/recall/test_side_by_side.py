"""Many threads ask one zone: each gets what it would get alone, to the bit."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from recollect import Recollect, Zone
from recollect.home.home_directory import Home
from recollect.schemas.wire import RecallAnswer
from recollect.streams.encoder.encoder import TokenVectors
from recollect.streams.projecting import projector
from tests.library.kit import said
from tests.recall.kit import ConceptEncoder, EncodedHome

LINES = (
    "I live in Turin with a puppy.",
    "Bob bought an automobile from Ann Lee.",
    "The puppy went to the physician in March.",
    "I moved to Oslo after the wedding.",
    "Ann Lee sold the vehicle because it was too loud.",
    "My hound likes the sea near Oslo.",
    "Bob is a doctor in Leeds.",
)
QUESTIONS = (
    "Where is the dog?",
    "Who has a car, and where does Bob live?",
    "What happened the week before the wedding?",
    "ann lee vehicle",
)


@pytest.fixture
def home(tmp_path: Path) -> EncodedHome:
    return made(tmp_path / "home")


def made(directory: Path) -> EncodedHome:
    Home.create_or_open(directory, without_encoder=True)
    return EncodedHome(directory)


def events() -> Iterator[dict[str, object]]:
    for number, line in enumerate(LINES):
        by, at = ("Ada", "Bob")[number % 2], f"2026-05-09T00:{number:02}:00Z"
        yield said(f"m{number}", line, by=by, minute=number, ingested_at=at)


def asked(zone: Zone, question: str) -> bytes:
    """Return all that is answered, but for how long it took."""
    answer = zone.recall(question, asked_at="2026-06-01T12:00:00Z", explain=True)
    return msgspec.json.encode(msgspec.structs.replace(answer, ms=0.0))


def ask_all(zone: Zone) -> list[bytes]:
    return [asked(zone, question) for question in QUESTIONS]


def test_while_somebody_writes_each_answer_is_that_of_one_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments: dict[str, set[bytes]] = {question: set() for question in QUESTIONS}
    with Recollect(made(tmp_path / "alone")) as r:
        ada = r.zone("ada")

        def look(place: str) -> None:
            for question, answer in zip(QUESTIONS, ask_all(ada), strict=True):
                moments[question].add(answer)

        look("before all")
        with monkeypatch.context() as patched:
            for event in events():
                patched.undo()
                ada.ingest(event, wait=False)
                look("raw turn")
                # One file after the other is committed, and asked in between.
                patched.setattr(projector, "failpoint", look)
                ada.decide()
        look("after all")
        last = ask_all(ada)
    assert all(len(answers) > len(LINES) for answers in moments.values())
    with Recollect(made(tmp_path / "home")) as r:
        ada, done = r.zone("ada"), threading.Event()

        def ask(first: int) -> list[tuple[str, bytes]]:
            found = []
            while not done.is_set():
                for number in range(len(QUESTIONS)):
                    question = QUESTIONS[(first + number) % len(QUESTIONS)]
                    found.append((question, asked(ada, question)))
            return found

        with ThreadPoolExecutor(8) as threads:
            asking = [threads.submit(ask, first) for first in range(8)]
            try:
                for event in events():
                    ada.ingest(event)
            finally:
                done.set()
            for each in asking:
                for question, answer in each.result():
                    assert answer in moments[question]
            assert list(threads.map(ask_all, [ada] * 8)) == [last] * 8


def test_who_is_encoded_keeps_nobody_waiting(
    home: EncodedHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, go_on = threading.Event(), threading.Event()
    encode = ConceptEncoder.encode_query_tokens

    def encoding(encoder: ConceptEncoder, text: str) -> TokenVectors:
        if text.startswith("When"):
            slow.set()
            assert go_on.wait(120)
        return encode(encoder, text)

    with Recollect(home) as r, ThreadPoolExecutor(2) as threads:
        ada = r.zone("ada")
        ada.ingest(list(events()))
        monkeypatch.setattr(ConceptEncoder, "encode_query_tokens", encoding)
        waits = threads.submit(ada.recall, "When was the wedding?")
        assert slow.wait(60)
        try:
            others = threads.submit(ada.recall, "Where is the dog?").result(60)
            ada.ingest(said("new", "The wedding was in Rome.", minute=50))
        finally:
            go_on.set()
        assert others.results
        # What came meanwhile is known: the answer is of the moment after its encoding.
        assert "new" in cited(waits.result(60))


def test_what_is_usual_does_not_depend_on_when_it_was_first_asked(tmp_path: Path) -> None:
    talk = [
        {**said(f"g{n}", f"What is the capital of country {n}?", minute=n), "session_id": "generic"}
        for n in range(60)
    ] + [
        {**said(f"o{n}", f"I lost my umbrella in town {n}.", minute=n), "session_id": "own"}
        for n in range(44)
    ]
    # With an assistant in it, what was asked there is no longer personal.
    more = {
        **said("late", "It is Oslo.", by="assistant", minute=61, direction="out"),
        "session_id": "generic",
    }
    question = "Which umbrella did I lose?"
    relevant = []
    for name in ("asked between", "asked at the end"):
        with Recollect(made(tmp_path / name)) as r:
            ada = r.zone("ada")
            ada.ingest(talk)
            if name == "asked between":
                ada.recall(question)
            ada.ingest(more)
            relevant.append(ada.recall(question).relevant)
    assert relevant[0] == relevant[1]
    assert 0 < relevant[0] < 1


def cited(answer: RecallAnswer) -> list[str]:
    return [id_ for result in answer.results for id_ in result.source_event_ids]
