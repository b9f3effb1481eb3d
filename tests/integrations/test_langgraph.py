"""LangGraph's store over a zone does what LangGraph's own store in memory does."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from recollect import Recollect, Zone
from recollect.integrations.langgraph_store import RecollectStore
from tests.remote.kit import client
from tests.service.kit import served


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recollect]:
    with Recollect(tmp_path_factory.mktemp("langgraph") / "home", encoder="none") as r:
        yield r


@pytest.fixture
def zone(home: Recollect, request: pytest.FixtureRequest) -> Zone:
    return home.zone(f"z{abs(hash(request.node.name)) % 10**9}")


@pytest.fixture
def store(zone: Zone) -> RecollectStore:
    return RecollectStore(zone)


LABELS = st.sampled_from(["users", "ada", "bob", "notes", "été \u200b", "*"])
NAMESPACES = st.lists(LABELS, min_size=1, max_size=3).map(tuple)
KEYS = st.sampled_from(["a", "b", "food", "x/y", '["q"]', "\x7f"])
VALUES = st.dictionaries(
    st.sampled_from(["n", "text", "deep"]),
    st.one_of(
        st.integers(0, 5),
        st.just(2**70),
        st.sampled_from(["", "pizza", "nul \0", "😀"]),
        st.none(),
        st.fixed_dictionaries({"k": st.integers(0, 2)}),
        st.lists(st.integers(0, 2), max_size=2),
    ),
    max_size=3,
)
FILTERS = st.sampled_from(
    [
        None,
        {"n": 1},
        {"text": {"$ne": "pizza"}},
        {"text": {"$eq": "pizza"}},
        {"deep": {"k": 1}},
        {"deep": [1, 2]},
    ]
)
OPS = st.one_of(
    st.builds(PutOp, NAMESPACES, KEYS, VALUES),
    st.builds(PutOp, NAMESPACES, KEYS, VALUES),
    st.builds(PutOp, NAMESPACES, KEYS, st.none()),
    st.builds(GetOp, NAMESPACES, KEYS),
    st.builds(
        SearchOp,
        st.lists(LABELS, max_size=2).map(tuple),
        filter=FILTERS,
        limit=st.just(1_000),
        offset=st.just(0),
        query=st.sampled_from([None, "pizza"]),
    ),
    st.builds(
        ListNamespacesOp,
        max_depth=st.sampled_from([None, 1, 2]),
        limit=st.integers(1, 5),
        offset=st.integers(0, 2),
    ),
)


def told(result: Any) -> Any:
    """Return what both stores must agree on: not the times, the scores or the order."""
    if isinstance(result, list):
        return sorted(map(told, result), key=repr)
    if result is None or isinstance(result, tuple):
        return result
    return result.namespace, result.key, result.value


@given(st.lists(st.lists(OPS, min_size=1, max_size=4), min_size=1, max_size=5))
@settings(max_examples=15)
def test_any_batches_are_answered_as_by_the_store_in_memory(
    home: Recollect, batches: list[list[Any]]
) -> None:
    """Namespaces that hold nothing are not listed; in memory each is that was only asked about.

    So the store in memory loses them before it lists.
    """
    ours = RecollectStore(home.zone(f"p{os.urandom(6).hex()}"))
    theirs = InMemoryStore()
    lists = [[op for op in batch if isinstance(op, ListNamespacesOp)] for batch in batches]
    others = [[op for op in batch if not isinstance(op, ListNamespacesOp)] for batch in batches]
    for batch in chain.from_iterable(zip(others, lists, strict=True)):
        expected = theirs.batch(batch)
        assert [told(one) for one in ours.batch(batch)] == [told(one) for one in expected]
        for namespace in [name for name, held in theirs._data.items() if not held]:
            del theirs._data[namespace]


@pytest.mark.parametrize(
    "wanted",
    [{"n": {"$gt": 1}}, {"n": {"$gte": 2}}, {"n": {"$lt": 2}}, {"n": {"$lte": 2, "$ne": 1}}],
)
def test_operators_compare_numbers(store: RecollectStore, wanted: dict[str, Any]) -> None:
    theirs = InMemoryStore()
    for number in range(4):
        for one in (store, theirs):
            one.put(("n",), str(number), {"n": number})
    found = [told(one.search(("n",), filter=wanted)) for one in (store, theirs)]
    assert found[0] == found[1]


def test_the_newest_version_wins_and_the_ones_before_are_found_no_more(
    store: RecollectStore, zone: Zone
) -> None:
    store.put(("users", "ada"), "food", {"likes": "pepperoni pizza"})
    first = store.get(("users", "ada"), "food")
    store.put(("users", "ada"), "food", {"likes": "mushroom risotto"})
    now = store.get(("users", "ada"), "food")
    assert first is not None
    assert now is not None
    assert now.value == {"likes": "mushroom risotto"}
    assert (now.created_at, now.updated_at > first.updated_at) == (first.created_at, True)
    found = [result.text for result in zone.recall("pepperoni pizza").results]
    assert not [text for text in found if "pepperoni" in text]
    assert list(zone.facts()) == [], "what an agent keeps is not what somebody said"


def test_what_is_deleted_is_forgotten_with_all_its_versions(
    store: RecollectStore, zone: Zone
) -> None:
    store.put(("a",), "k", {"text": "pepperoni pizza"})
    store.put(("a",), "k", {"text": "mushroom risotto"})
    store.put(("a",), "other", {"text": "green tea"})
    store.delete(("a",), "k")
    store.delete(("a",), "never there")
    assert store.get(("a",), "k") is None
    texts = [memory.text for memory in zone.list_memories("events").memories]
    assert texts == ["green tea"]
    store.put(("a",), "k", {"text": "again"})
    assert [item.value for item in store.search(("a",))] == [
        {"text": "again"},
        {"text": "green tea"},
    ]


def test_a_search_puts_what_recall_finds_first(store: RecollectStore) -> None:
    store.put(("m",), "1", {"text": "Ada plays the violin in a quartet."})
    store.put(("m",), "2", {"text": "The boat is painted blue."})
    store.put(("m",), "3", {"text": "The train leaves at nine."})
    store.put(("hidden",), "4", {"text": "A violin of somebody else."})
    found = store.search(("m",), query="who plays the violin?")
    assert found[0].key == "1"
    assert found[0].score is not None
    assert {item.key for item in found} == {"1", "2", "3"}
    pages = [store.search(("m",), query="violin", limit=1, offset=place) for place in range(4)]
    assert [len(page) for page in pages] == [1, 1, 1, 0]


def test_what_is_not_to_be_indexed_is_not_found_by_its_words(
    store: RecollectStore, zone: Zone
) -> None:
    store.put(("m",), "secretive", {"text": "violin"}, index=False)
    store.put(("m",), "part", {"text": "violin", "title": "orchard"}, index=["title"])
    assert store.search(("m",), query="violin")[0].score is None
    assert store.search(("m",), query="orchard")[0].key == "part"
    item = store.get(("m",), "secretive")
    assert item is not None
    assert item.value == {"text": "violin"}


def test_namespaces_match_by_prefix_suffix_and_wildcard(store: RecollectStore) -> None:
    theirs = InMemoryStore()
    one: BaseStore
    for one in (store, theirs):
        for namespace in [("a", "b", "c"), ("a", "x", "c"), ("b", "c"), ("a",)]:
            one.put(namespace, "k", {"v": 1})
    for asked in (
        {"prefix": ("a",)},
        {"suffix": ("c",)},
        {"prefix": ("a", "*", "c")},
        {"prefix": ("a",), "suffix": ("c",), "max_depth": 2},
        {"limit": 1, "offset": 2},
    ):
        assert store.list_namespaces(**asked) == theirs.list_namespaces(**asked), asked


def test_the_async_methods_do_the_same(store: RecollectStore) -> None:
    async def run() -> None:
        await asyncio.gather(*(store.aput(("n",), str(n), {"n": n}) for n in range(5)))
        item = await store.aget(("n",), "3")
        assert item is not None
        assert item.value == {"n": 3}
        assert len(await store.asearch(("n",))) == 5
        await store.adelete(("n",), "3")
        assert await store.aget(("n",), "3") is None
        assert await store.alist_namespaces() == [("n",)]

    asyncio.run(run())


def test_what_cannot_be_is_refused_as_by_any_store(store: RecollectStore) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.put((), "k", {"v": 1})
    with pytest.raises(NotImplementedError, match="TTL"):
        store.put(("a",), "k", {"v": 1}, ttl=1)
    store.put(("a",), "k", {"v": 1})
    with pytest.raises(ValueError, match="Unsupported operator"):
        store.search(("a",), filter={"v": {"$regex": "x"}})


@pytest.mark.parametrize("wrong", [-1, -100, 1.5, "3", None, True])
@pytest.mark.parametrize("field", ["limit", "offset"])
def test_limits_and_offsets_that_are_none_are_refused(
    store: RecollectStore, field: str, wrong: Any
) -> None:
    """Fault 11."""
    for key in "abc":
        store.put(("a",), key, {"v": "pizza"})
    for op in (
        SearchOp(("a",), **{field: wrong}),
        SearchOp(("a",), query="pizza", **{field: wrong}),
        ListNamespacesOp(**{field: wrong}),
    ):
        # Nothing of a batch is carried out that holds one of these.
        with pytest.raises(ValueError, match=field):
            store.batch([PutOp(("a",), "d", {"v": 1}), op])
    assert store.get(("a",), "d") is None
    assert store.search(("a",), limit=0) == []
    assert len(store.search(("a",), limit=2)) == 2
    assert len(store.search(("a",), limit=2, offset=2)) == 1
    assert len(store.search(("a",), query="pizza", limit=2, offset=2)) == 1


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """The operations that zones carried out and what each returned, as they come."""
    found: list[tuple[str, Any]] = []
    ingest, call = Zone.ingest, Zone.call

    def counted_ingest(self: Zone, *given: Any, **options: Any) -> Any:
        found.append(("ingest", ingest(self, *given, **options)))
        return found[-1][1]

    def counted_call(self: Zone, operation: Any, *given: Any, **options: Any) -> Any:
        found.append((operation.name, call(self, operation, *given, **options)))
        return found[-1][1]

    monkeypatch.setattr(Zone, "ingest", counted_ingest)
    monkeypatch.setattr(Zone, "call", counted_call)
    return found


def test_a_batch_is_one_import_and_one_erasure(zone: Zone, calls: list[tuple[str, Any]]) -> None:
    """Fault 11."""
    store = RecollectStore(zone)
    many = [PutOp(("a",), f"k{n}", {"v": f"thing {n}"}) for n in range(60)]
    store.batch([*many, PutOp(("a",), "kept", {"v": "pizza"})])
    store.batch([op._replace(value={"v": "newer"}) for op in many])
    store.batch([op._replace(value=None) for op in many])
    writing = [name for name, _ in calls if name in ("ingest", "forget")]
    assert writing == ["ingest", "ingest", "forget"]
    assert [item.key for item in store.search(("a",), limit=100)] == ["kept"]
    assert len(zone.list_memories("events").memories) == 1, "all versions are forgotten"


def test_a_search_reads_no_more_than_it_answers(zone: Zone, calls: list[tuple[str, Any]]) -> None:
    """Fault 11."""
    store = RecollectStore(zone)
    store.batch([PutOp(("a",), f"k{n}", {"v": f"thing {n}"}) for n in range(120)])
    for query in (None, "thing 7"):
        calls.clear()
        assert len(store.search(("a",), query=query, limit=10)) == 10
        read = [page.memories for name, page in calls if name == "list_memories"]
        assert sum(map(len, read)) <= 60
    everything = store.search(("a",), query="thing 7", limit=1_000)
    assert len({item.key for item in everything}) == len(everything) == 120


def test_two_stores_of_a_zone_and_two_zones_are_apart(home: Recollect) -> None:
    one, two = home.zone("apart-1"), home.zone("apart-2")
    RecollectStore(one).put(("a",), "k", {"v": "pizza"})
    assert RecollectStore(one, platform="other").get(("a",), "k") is None
    assert RecollectStore(two).search((), query="pizza") == []
    assert RecollectStore(one).search((), query="pizza")[0].key == "k"


def test_a_store_over_a_service(tmp_path: Path) -> None:
    with served(tmp_path / "home") as service, client(service) as r:
        store = RecollectStore(r.zone("ada"))
        store.put(("users", "ada"), "food", {"likes": "pizza"})
        store.put(("users", "ada"), "food", {"likes": "risotto"})
        assert [item.value for item in store.search(("users",), query="risotto")] == [
            {"likes": "risotto"}
        ]
        store.delete(("users", "ada"), "food")
        assert store.search(("users",)) == []
