"""The index follows the zone: the same whether built at once, bit by bit, or read from its file."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect import Query
from recollect.home.home_directory import Home
from recollect.projections.embeddings import canonical_vectors
from recollect.projections.embeddings.canonical_vectors import to_int8
from recollect.projections.events import EventsModel, turns_for_recall
from recollect.projections.recall.index import zone_index
from recollect.projections.recall.index.arrays import array_store
from recollect.projections.recall.index.arrays.bit_codes import BitCodes, break_ties, smallest
from recollect.projections.recall.index.arrays.growable_arrays import Texts
from recollect.projections.recall.index.turn_index import Turns
from recollect.projections.recall.index.vector_index import Vectors, VectorTargets
from recollect.streams.projecting import projector
from tests.memory import Memory
from tests.protocol.kit import in_memory
from tests.recall.conftest import Open
from tests.recall.kit import (
    DAY,
    HOUR,
    MINUTE,
    START,
    EncodedHome,
    ask,
    cited,
    plain,
    recaller_of,
    say,
    tell,
    vector_of,
)

WORDS = ("stone", "tree", "river", "dog", "hound", "car", "boat", "doctor")
TEXTS = ("Who saw a hound on the river?", "Ada has a car", "stone", "?")
QUESTIONS = [
    query
    for text in TEXTS
    for query in (
        Query(text, budget="high", explain=True, max_results=40, scope=("events", "facts")),
        Query(text, budget="mid", explain=True, max_results=40, scope=("facts",)),
        Query(text, budget="low", explain=True, max_results=40, scope=("events",)),
    )
]

said = st.tuples(
    st.sampled_from(["a", "b", "c"]),
    st.sampled_from([MINUTE, HOUR, 7 * HOUR, -9 * HOUR]),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join),
)


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory):
    model = EventsModel(tmp_path_factory.mktemp("events"))
    yield model
    model.close()


def add(events: EventsModel, first: int, lines: list[tuple[str, int, str]], at: int) -> int:
    for number, (conversation, step, text) in enumerate(lines, first):
        at += step
        events.connection.execute(
            "INSERT INTO events (number, id, kind, platform, source_id, sender_id, content, caption"
            ", attachments, metadata, utc_offset, conversation, occurred_at, ingested_at) VALUES "
            "(?1, 'e' || ?1, 'message', 'chat', 's', ?3 || 'u', ?2, '', '[]', '{}', 0, ?3, ?4, ?4)",
            (2 * number, text, conversation, at),
        )
    return at


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.lists(said, max_size=6), min_size=1, max_size=5))
def test_turns_that_followed_are_those_that_were_read_at_once(
    events: EventsModel, batches: list[list[tuple[str, int, str]]]
) -> None:
    events.connection.execute("DELETE FROM events")
    following = Turns(events.connection)
    number, at = 1, START
    for batch in batches:
        at = add(events, number, batch, at)
        number += len(batch)
        following.follow()
        # What was looked up is stored, and has to follow.
        following.bm25(list(WORDS[:4]))
    anew = Turns(events.connection)
    anew.follow()
    stored = Turns(events.connection, following.columns())
    for turns in (following, stored):
        for name, values in anew.columns().items():
            assert np.array_equal(turns.columns()[name], values), name
        for words in (WORDS[:1], WORDS[2:6], WORDS):
            (scores, share), (expected, covered) = (one.bm25(list(words)) for one in (turns, anew))
            assert np.array_equal(scores, expected)
            assert share == covered
    places = anew.place_of_id.of([f"e{2 * place}" for place in range(number + 2)])
    assert places.tolist() == [-1, *range(number - 1), -1, -1]


@pytest.fixture
def stored_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every index is worth a file."""
    monkeypatch.setattr(zone_index, "MIN_STORED_TURNS", 1)


def talk_of(count: int, first: int = 0) -> list:
    random = np.random.default_rng(first)
    return [
        say(
            f"I saw a {random.choice(WORDS)}. I own a {random.choice(WORDS)}, {place}.",
            f"m{place}",
            by=("Ada", "Bob", "Eve")[place % 3],
            at=START + place * (7 * HOUR if place % 9 == 0 else MINUTE),
            peer_id=f"room{place % 4}",
        )
        for place in range(first, first + count)
    ]


@pytest.fixture(scope="module")
def told() -> Iterator[Path]:
    """A home with 120 turns, of which nobody asked anything yet."""
    with in_memory() as room:
        Home.create_or_open(room / "home", without_encoder=True)
        with Memory(EncodedHome(room / "home")) as memory:
            tell(memory, talk_of(120))
        yield room / "home"


def answers(memory: Memory) -> list:
    return [plain(memory.recall(query)) for query in QUESTIONS]


def index_file(memory: Memory) -> Path:
    zone = memory.node.zone(memory.zone)
    return zone.directory(zone.current()) / array_store.FILE


def wide_files(memory: Memory) -> list[Path]:
    return [
        path for path in index_file(memory).parent.iterdir() if path.name in array_store.WIDE_FILES
    ]


def test_an_answer_does_not_depend_on_how_the_index_came_about(
    memory: Memory, open_memory: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    following = open_memory()
    for step in range(6):
        tell(memory, talk_of(25, 25 * step))
        answers(following)
    anew = answers(open_memory())
    assert answers(following) == anew
    monkeypatch.setattr(zone_index, "MIN_STORED_TURNS", 1)
    writer = open_memory()
    assert answers(writer) == anew
    assert index_file(memory).exists()
    tell(memory, talk_of(10, 150))
    anew = answers(following)
    mapped = open_memory()
    assert answers(mapped) == anew
    memory.forget("m3", "m151")
    anew = answers(open_memory())
    for one in (following, mapped, memory):
        assert answers(one) == anew
    assert memory.verify().ok


@pytest.fixture
def turns_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many turns each statement read that indexes ask for them with."""
    read: list[int] = []
    turns_after = turns_for_recall.turns_after

    def counting(connection: object, number: int, limit: int) -> list:
        found = turns_after(connection, number, limit)  # type: ignore[arg-type]
        read.append(len(found))
        return found

    monkeypatch.setattr(turns_for_recall, "turns_after", counting)
    return read


def test_after_an_erasure_no_turn_is_read_again(
    memory: Memory, open_memory: Open, turns_read: list[int]
) -> None:
    tell(memory, talk_of(60))
    reader = open_memory()
    answers(reader)
    turns_read.clear()
    memory.forget("m3", "m59")
    for _ in range(3):
        assert not {"m3", "m59"} & set(cited(ask(reader, "stone", max_results=100)))
    assert sum(turns_read) == 0
    assert answers(reader) == answers(open_memory())


@pytest.mark.usefixtures("stored_at_once")
class TestFile:
    """The stored index is used where it is whole and of these files; else it is not."""

    @pytest.fixture
    def stored(self, told: Path, room: Path, open_memory: Open) -> Memory:
        shutil.copytree(told, room / "encoded")
        memory = open_memory()
        # The file names the very files that it was made of, so it cannot be copied with them.
        open_memory().recall(QUESTIONS[0])
        assert index_file(memory).exists()
        return memory

    def test_the_next_process_reads_no_turn_again(
        self, stored: Memory, open_memory: Open, turns_read: list[int]
    ) -> None:
        expected = answers(stored)
        turns_read.clear()
        other = open_memory()
        assert answers(other) == expected
        assert sum(turns_read) == 0
        tell(stored, talk_of(3, 120))
        assert answers(other) == answers(stored)
        assert sum(turns_read) <= 2 * 3

    def test_nor_after_an_erasure(
        self, stored: Memory, open_memory: Open, turns_read: list[int]
    ) -> None:
        stored.forget("m3", "m60")
        turns_read.clear()
        assert "m3" not in cited(ask(open_memory(), "stone", max_results=200))
        assert sum(turns_read) == 0

    @pytest.mark.parametrize(
        "damage",
        [
            lambda content: b"",
            lambda content: content[:10],
            lambda content: content[: len(content) // 2],
            lambda content: content[:-1],
            lambda content: content[:100] + bytes([content[100] ^ 1]) + content[101:],
            lambda content: content[:-200] + bytes([content[-200] ^ 1]) + content[-199:],
            lambda content: bytes(len(content)),
        ],
        ids=["empty", "head", "half", "end", "description", "array", "zeros"],
    )
    def test_a_torn_one_is_not_trusted(
        self, stored: Memory, open_memory: Open, damage: Callable[[bytes], bytes]
    ) -> None:
        expected = answers(stored)
        path = index_file(stored)
        before = array_store.read(path.parent)
        assert before is not None
        arrays = {name: values.copy() for name, values in before.arrays.items()}
        path.write_bytes(damage(path.read_bytes()))
        assert array_store.read(path.parent) is None
        assert answers(open_memory()) == expected
        after = array_store.read(path.parent)
        assert after is not None
        assert after.metadata == before.metadata
        assert after.arrays.keys() == arrays.keys()
        assert all(np.array_equal(after.arrays[name], arrays[name]) for name in arrays)

    def test_one_without_its_wide_arrays_is_not_trusted(
        self, stored: Memory, open_memory: Open
    ) -> None:
        expected = answers(stored)
        (wide,) = wide_files(stored)
        for content in (wide.read_bytes()[:-64], None):
            wide.unlink()
            if content is not None:
                wide.write_bytes(content)
            assert answers(open_memory()) == expected
            (wide,) = wide_files(stored)

    def test_garbage_in_its_wide_arrays_is_found_by_verify_and_mended_by_rebuild(
        self, stored: Memory, open_memory: Open
    ) -> None:
        expected = answers(stored)
        (wide,) = wide_files(stored)
        # As long as it was: what is large is taken as the file system gives it.
        garbage = np.random.default_rng(1).bytes(wide.stat().st_size)
        wide.write_bytes(garbage)
        assert all(isinstance(answer, list) for answer in answers(open_memory()))
        assert wide.read_bytes() == garbage
        found = stored.verify()
        assert not found.ok
        assert any("rebuild --level index" in problem for problem in found.problems)
        stored.rebuild("index")
        assert stored.verify().ok
        assert answers(open_memory()) == expected

    def test_that_of_other_files_is_not_trusted(self, stored: Memory, open_memory: Open) -> None:
        other = open_memory("other")
        tell(other, talk_of(120, 500))
        expected = answers(open_memory("other"))
        shutil.copy(index_file(stored), index_file(other))
        assert answers(open_memory("other")) == expected

    def test_what_is_forgotten_is_in_no_byte_of_it(self, stored: Memory, open_memory: Open) -> None:
        (secret,) = [say("I own a zeppelin in Nowhere.", "secret", at=START + 99 * DAY)]
        tell(stored, [secret, *talk_of(30, 200)])
        reader = open_memory()
        (result, *_) = ask(reader, "zeppelin", scope=("events",))
        (coded,) = canonical_vectors.quantise(vector_of("I own a zeppelin in Nowhere.")[None])
        code = np.packbits(np.frombuffer(coded, np.int8) > 0, bitorder="little")
        words = [bytes(code[at : at + 8]) for at in range(0, len(code), 8)]
        terms = [blake2b(term, digest_size=8).digest() for term in (b"zeppelin", b"nowher")]
        narrow, (wide,) = index_file(stored), wide_files(stored)
        assert result.id.encode() in narrow.read_bytes()
        assert all(word in narrow.read_bytes() for word in (*words, *terms))
        assert coded in wide.read_bytes()
        # What writers left that were killed.
        shutil.copy(narrow, narrow.with_name(array_store.FILE + ".tmp"))
        (other,) = {*array_store.WIDE_FILES} - {wide.name}
        shutil.copy(wide, wide.with_name(other))
        stored.forget("secret")
        assert sorted(path.name for path in narrow.parent.glob("recall.*")) == sorted(
            (array_store.FILE, array_store.LOCK, wide.name)
        )
        for one in (reader, open_memory(), stored):
            assert "secret" not in cited(ask(one, "zeppelin"))
        for path in stored.home.directory.rglob("*"):
            content = path.read_bytes() if path.is_file() else b""
            for trace in (result.id.encode(), coded, *words, *terms):
                assert trace not in content, path
        assert stored.verify().ok

    def test_it_is_not_written_from_before_something_was_forgotten(
        self, stored: Memory, open_memory: Open
    ) -> None:
        reader = open_memory()
        answers(reader)
        stored.forget("m5")
        left = index_file(stored).read_bytes()
        recaller_of(reader).store()
        assert index_file(stored).read_bytes() == left

    def test_what_a_process_left_that_died_while_it_forgot_goes_with_the_next_question(
        self, stored: Memory, open_memory: Open, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        id_ = left_behind(stored, monkeypatch)
        assert any("has deleted rows" in problem for problem in stored.verify().problems)
        assert id_ in index_file(stored).read_bytes()
        reader = open_memory()
        assert "m5" not in cited(ask(reader, "stone", max_results=200))
        assert id_ not in index_file(stored).read_bytes()
        assert len(wide_files(stored)) == 1
        assert stored.verify().ok

    def test_and_with_the_next_that_forgets(
        self, stored: Memory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        id_ = left_behind(stored, monkeypatch)
        stored.forget("m9")
        assert id_ not in index_file(stored).read_bytes()
        assert stored.verify().ok

    def test_without_the_room_to_write_what_is_left_it_goes_whole(
        self, stored: Memory, open_memory: Open, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(*given: object) -> None:
            raise OSError(errno.ENOSPC, "no space left on device")

        with monkeypatch.context() as patched:
            patched.setattr(array_store, "_write_arrays", full)
            stored.forget("m5")
            assert {path.name for path in index_file(stored).parent.glob("recall.*")} == {
                array_store.LOCK
            }
        assert answers(stored) == answers(open_memory())
        assert stored.verify().ok

    def test_one_that_is_too_far_behind_to_know_what_went_is_made_anew(
        self, memory: Memory, open_memory: Open
    ) -> None:
        tell(memory, talk_of(60))
        reader = open_memory()
        answers(reader)
        with memory.node.open(memory.zone, memory.node.current(memory.zone)) as files:
            for model in files.all:
                if model is not files.identity:
                    model.connection.execute("UPDATE lineage SET changes = changes + 1")
        memory.forget("m3")
        assert not index_file(memory).exists()
        assert answers(reader) == answers(open_memory())
        assert index_file(memory).exists()

    def test_verify_finds_one_that_is_whole_and_wrong(self, stored: Memory) -> None:
        assert stored.verify().ok
        found = array_store.read(index_file(stored).parent)
        assert found is not None
        found.arrays["turns.occurred_at"][3] += 1
        wide = {name: values for name, values in found.arrays.items() if name.endswith(".codes")}
        narrow = {name: found.arrays[name] for name in found.arrays.keys() - wide.keys()}
        array_store.write(index_file(stored).parent, found.metadata, narrow, wide)
        found_problems = stored.verify().problems
        assert any(
            array_store.FILE in problem and "occurred_at" in problem for problem in found_problems
        )
        stored.rebuild("index")
        assert stored.verify().ok

    def test_verify_goes_on_where_a_full_text_index_cannot_be_read(self, stored: Memory) -> None:
        node = stored.node
        with node.open(stored.zone, node.current(stored.zone)) as files:
            files.events.connection.execute(
                "UPDATE events_fts_data SET block = x'0004ffffffffffffffffffff' WHERE id > 10"
            )
        checked = stored.verify()
        assert checked.events
        assert any("rebuild --level index" in problem for problem in checked.problems)
        assert all("replay stopped" not in problem for problem in checked.problems)
        stored.rebuild("index")
        assert stored.verify().ok


def left_behind(memory: Memory, patch: pytest.MonkeyPatch) -> bytes:
    """Forget m5, and die each time before the index loses it; return the id of its event."""
    (result,) = (
        result
        for result in ask(memory, "stone", max_results=200, scope=("events",))
        if result.source_event_ids == ["m5"]
    )
    with patch.context() as patched:
        patched.setattr(projector, "prune_stored", lambda files: None)
        memory.forget("m5")
    return result.id.encode()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 9), max_size=300), st.integers(1, 40), st.integers(0, 3))
def test_the_least_are_the_first_of_equals(values: list[int], count: int, spread: int) -> None:
    distances = np.array(values, np.uint16)
    places = np.random.default_rng(spread).permutation(len(values))
    rows, cut = smallest(distances, count)
    rows = break_ties(rows, distances[rows], cut, count, places[rows])
    expected = sorted(range(len(values)), key=lambda row: (values[row], places[row]))[:count]
    assert sorted(rows.tolist()) == sorted(expected)


def test_many_equals_are_cut_in_the_order_of_their_places() -> None:
    distances = np.full(50_000, 7, np.uint16)
    rows, cut = smallest(distances, 100)
    rows = break_ties(rows, distances[rows], cut, 100, 50_000 - rows)
    assert sorted(rows.tolist()) == list(range(49_900, 50_000))


@pytest.mark.parametrize("dimension", [8, 64, 100, 192, 384])
def test_codes_differ_where_signs_do(dimension: int) -> None:
    random = np.random.default_rng(dimension)
    vectors = random.standard_normal((500, dimension)).astype(np.float32)
    query = random.standard_normal(dimension).astype(np.float32)
    codes = BitCodes(dimension)
    for start, end in ((0, 1), (1, 130), (130, 500)):
        codes.extend(vectors[start:end])
    differing = ((vectors > 0) != (query > 0)).sum(axis=1)
    assert codes.distance(query).tolist() == differing.tolist()


@pytest.mark.slow
@pytest.mark.usefixtures("learnt_salience")
@pytest.mark.parametrize("level", ["index", "project", "derive"])
def test_answers_stay_right_while_another_process_rebuilds(
    words_only: Memory, open_memory: Open, level: str
) -> None:
    tell(words_only, talk_of(150))
    reader = open_memory(encoder=False)
    expected = answers(reader)
    command = [sys.executable, "-c", "from recollect.cli import main; main()"]
    home = ["--home", str(words_only.home.directory)]
    rebuilding = subprocess.Popen(
        [*command, *home, "rebuild", "--level", level, "--json"],
        stdout=subprocess.PIPE,
        env={**os.environ, "RECOLLECT_TICKS": "off"},
    )
    asked = 0
    while rebuilding.poll() is None or asked < 2:
        assert answers(reader) == expected
        asked += 1
    rebuilding.communicate()
    assert rebuilding.returncode == 0
    assert answers(reader) == expected
    assert answers(open_memory(encoder=False)) == expected


def test_a_vector_that_is_no_number_is_near_nothing() -> None:
    random = np.random.default_rng(3)
    vectors = random.standard_normal((50, 100)).astype(np.float32)
    vectors[[4, 17], 3], vectors[30, 5] = np.nan, np.inf
    ids = Texts()
    ids.extend(map(str, range(50)))
    places = np.arange(50)
    found = Vectors(
        100, VectorTargets(lambda names: np.array([int(x) for x in names]), ids, places.copy)
    )
    codes, _ = to_int8(vectors)
    found.extend(list(range(50)), ids[:], codes)
    near = found.nearest(vectors[9] / np.linalg.norm(vectors[9]), 45)
    assert len(near.places) == 45
    assert near.places[0] == 9
    assert not {4, 17, 30} & set(near.places.tolist())
