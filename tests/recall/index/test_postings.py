"""Postings: those of rows that were added one by one equal the full-text index read at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import apsw
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.projections.recall.index import postings, zone_index
from recollect.projections.recall.index.postings import Postings
from tests.memory import Memory
from tests.recall.conftest import Open
from tests.recall.kit import ask, say, tell

# Terms that no stemmer changes; one is the beginning of another, one is no ASCII.
WORDS = ("ant", "antler", "bee", "cod", "日本", "zebu")
texts = st.lists(st.sampled_from(WORDS), max_size=6)
steps = st.lists(
    st.one_of(st.lists(texts, max_size=4), st.sampled_from(["ask", "store"])), max_size=12
)


class Documents:
    """Texts in a full-text index; every other document is no row."""

    def __init__(self) -> None:
        self.connection = apsw.Connection(":memory:")
        self.connection.execute(
            "CREATE VIRTUAL TABLE found USING fts5(text, more, "
            "tokenize = 'porter unicode61 remove_diacritics 2')"
        )
        self.texts: list[list[str]] = []

    def add(self, texts: list[list[str]]) -> list[tuple[str, str]]:
        """Add texts; return them in two parts."""
        parts = [(" ".join(text[:2]), " ".join(text[2:])) for text in texts]
        for row, pair in enumerate(parts, len(self.texts)):
            for document in (2 * row, 2 * row + 1):
                self.connection.execute(
                    "INSERT INTO found (rowid, text, more) VALUES (?, ?, ?)", (document, *pair)
                )
        self.texts += texts
        return parts

    def postings(self, columns: Mapping[str, np.ndarray] | None = None) -> Postings:
        return Postings(self.connection, "found", _rows_of, columns)

    def counted(self, word: str) -> list[tuple[int, float]]:
        """Return what `of` should say, counted in the texts."""
        counts = enumerate(Counter(text)[word] for text in self.texts)
        return [(row, float(count)) for row, count in counts if count]


def _rows_of(documents: np.ndarray) -> np.ndarray:
    return np.where(documents % 2, -1, documents // 2)


def said(found: Postings, word: str) -> list[tuple[int, float]]:
    rows, counts = found.of(word)
    return list(zip(rows.tolist(), counts.tolist(), strict=True))


@settings(max_examples=150, deadline=None)
@given(steps, st.integers(0, 3), st.integers(1, 3))
def test_what_came_is_what_is_read_at_once(
    steps: list[str | list[list[str]]], most: int, block: int
) -> None:
    documents = Documents()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postings, "_MAX_INCREMENTAL_TEXTS", most)
        patch.setattr(postings, "_BLOCK", block)
        patch.setattr(postings, "MAX_CACHED_POSTINGS", 4)
        found = documents.postings()
        for step in steps:
            if step == "store":
                columns = found.columns()
                anew = documents.postings().columns()
                assert all(np.array_equal(columns[name], anew[name]) for name in anew)
                found = documents.postings(columns)
            elif not isinstance(step, str):
                first = len(documents.texts)
                found.extend(first, documents.add(step))
            for word in WORDS if step == "ask" else ():
                assert said(found, word) == documents.counted(word)
        for word in (*WORDS, "", "ante", "zz"):
            assert said(found, word) == documents.counted(word)


def test_a_word_that_the_full_text_index_cuts_within_a_character(
    memory: Memory, open_memory: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zone_index, "MIN_STORED_TURNS", 1)
    tell(memory, [say("日" * 12_000, "e1"), say("Grace lives in Paris.", "e2")])
    assert ask(open_memory(), "Where does Grace live?")[0].source_event_ids == ["e2"]
    tell(memory, [say(f"{'本' * 12_000} and a boat, {'本' * 12_000}日.", "e3")])
    for one in (memory, open_memory()):
        assert ask(one, "Is there a boat?")[0].source_event_ids == ["e3"]
    assert memory.verify().ok


def test_what_an_interrupted_question_had_begun_to_read_is_read_anew(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(memory, [say("Grace lives in Paris.", "e1")])
    ask(memory, "Who lives in Paris?")
    tell(memory, [say("The canoe leaked.", "e2")])
    extend, stops = Postings.extend, [True]

    def interrupted(self: Postings, first: int, texts: list[tuple[str, str]]) -> None:
        if stops and stops.pop():
            raise KeyboardInterrupt
        extend(self, first, texts)

    monkeypatch.setattr(Postings, "extend", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ask(memory, "What leaked?")
    (best, *_) = ask(memory, "Who has a canoe?", budget="mid", explain=True)
    assert best.source_event_ids == ["e2"]
    assert (best.arms or {})["keyword"] == 1
