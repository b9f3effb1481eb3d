"""Mem0's `Memory` on a home: what its callers rely on, and whose words nobody else finds."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect import MAX_CONTENT_BYTES, Recollect
from recollect.compat.mem0 import AsyncMemory, Memory
from recollect.home.home_directory import Home
from recollect.integrations.mem0.mem0_store import Mem0Store, Owner
from recollect.text.stopwords import STOP_WORDS
from tests.integrations.mem0_package import TheirMemory, their_memory_with

ADA, BOB = {"user_id": "ada"}, {"user_id": "bob"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recollect]:
    with Recollect(tmp_path_factory.mktemp("mem0") / "home", encoder="none") as opened:
        yield opened


@pytest.fixture
def memory(home: Recollect, request: pytest.FixtureRequest) -> Memory:
    """A memory over a zone of its own."""
    return Memory(home, zone=f"z{abs(hash(request.node.name)) % 10**9}")


def texts(found: dict[str, Any]) -> list[str]:
    return [item["memory"] for item in found["results"]]


@pytest.mark.parametrize(
    "method",
    [
        "add",
        "search",
        "get",
        "get_all",
        "update",
        "delete",
        "delete_all",
        "history",
        "reset",
        "close",
        "from_config",
    ],
)
def test_every_parameter_of_theirs_is_one_of_ours(method: str) -> None:
    theirs = inspect.signature(getattr(TheirMemory, method)).parameters
    ours = inspect.signature(getattr(Memory, method)).parameters
    for name, parameter in theirs.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            continue
        assert name in ours, name
        assert ours[name].kind == parameter.kind
        if isinstance(parameter.default, str | int | float | None):
            assert ours[name].default == parameter.default, name


def test_verbatim_messages_are_memories_as_they_stand(memory: Memory) -> None:
    said = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "I live in Turin. I play chess.", "name": "Ada"},
        {"role": "assistant", "content": "Chess in Turin, noted."},
    ]
    added = memory.add(said, user_id="ada", run_id="r1", metadata={"topic": "home"}, infer=False)
    assert [(one["memory"], one["event"]) for one in added["results"]] == [
        ("I live in Turin. I play chess.", "ADD"),
        ("Chess in Turin, noted.", "ADD"),
    ]
    kept = memory.get(added["results"][0]["id"])
    assert kept is not None
    assert kept["metadata"] == {"topic": "home"}
    assert (kept["user_id"], kept["run_id"], kept["role"]) == ("ada", "r1", "user")
    assert kept["actor_id"] == "Ada"
    assert kept["created_at"] == kept["updated_at"]
    best = memory.search("chess in Turin", filters=ADA)["results"]
    assert {one["id"] for one in best} == {one["id"] for one in added["results"]}
    assert all(0 < one["score"] <= 1 for one in best)


def test_facts_are_inferred_from_users_and_what_the_assistant_said_stays_a_turn(
    memory: Memory,
) -> None:
    added = memory.add(
        [
            {"role": "user", "content": "I live in Turin. I play chess."},
            {"role": "assistant", "content": "You also own a castle in Spain."},
        ],
        user_id="ada",
    )
    assert sorted(texts(added)) == [
        "Ada lives in Turin.",
        "Ada plays chess.",
        "You also own a castle in Spain.",
    ]
    assert sorted(texts(memory.get_all(filters=ADA))) == sorted(texts(added))
    for one in added["results"]:
        kept = memory.get(one["id"])
        assert kept is not None
        assert kept["memory"] == one["memory"]


def test_no_filter_lets_anothers_words_through(memory: Memory) -> None:
    for user, word in (("ada", "apricot"), ("bob", "qxcanary"), ("bobby", "banana")):
        for infer in (True, False):
            memory.add(f"I hid the {word} in the cellar {infer}.", user_id=user, infer=infer)
    memory.add("I hid the qxcanary in the cellar alone.", agent_id="bob")
    for asked in ("Who hid the qxcanary in the cellar?", "bob", "cellar"):
        for filters in (
            ADA,
            {"user_id": "ada", "NOT": [{"user_id": "zoe"}]},
            {"user_id": "ada", "OR": [{"user_id": "bob"}, {"role": "user"}]},
            {"user_id": {"in": ["ada", "bobby"]}},
            {"user_id": "bo"},
        ):
            found = memory.search(asked, filters=filters, top_k=1000, threshold=0)
            assert "qxcanary" not in str(found), (asked, filters)
            assert "qxcanary" not in str(memory.get_all(filters=filters, top_k=1000))
    assert "apricot" in str(memory.search("apricot", filters=ADA))


def test_a_users_few_memories_are_found_among_very_many_of_others(memory: Memory) -> None:
    memory.add(
        [{"role": "user", "content": f"The boat number {n} is red."} for n in range(300)],
        user_id="bob",
        infer=False,
    )
    memory.add("The boat of mine is green.", user_id="ada", infer=False)
    assert texts(memory.search("red boat number", filters=ADA, threshold=0, top_k=1)) == [
        "The boat of mine is green."
    ]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({"n": 2}, {2}),
        ({"n": {"eq": 2}}, {2}),
        ({"n": {"ne": 2}}, {1, 3}),
        ({"n": {"in": [1, 3, 9]}}, {1, 3}),
        ({"n": {"nin": [1]}}, {2, 3}),
        ({"n": {"gt": 1}}, {2, 3}),
        ({"n": {"gte": 2, "lt": 3}}, {2}),
        ({"n": {"lte": 1}}, {1}),
        ({"n": {"gt": "1"}}, set()),
        ({"n": True}, set()),
        ({"word": {"contains": "Ap"}}, {1}),
        ({"word": {"contains": "ap"}}, set()),
        ({"word": {"icontains": "AP"}}, {1}),
        ({"word": "*"}, {1, 2}),
        ({"absent": "*"}, set()),
        ({"absent": {"ne": 1}}, {1, 2, 3}),
        ({"AND": [{"n": {"gt": 1}}, {"word": "*"}]}, {2}),
        ({"OR": [{"n": 1}, {"n": 3}]}, {1, 3}),
        ({"NOT": [{"n": 1}, {"n": 2}]}, {3}),
        ({"metadata": {"n": 3}}, {3}),
        ({"role": "user"}, {1, 2, 3}),
        ({"created_at": {"gte": "2026-02-01", "lt": "2026-03-01T00:00:00Z"}}, {2}),
    ],
)
def test_filters_mean_what_they_mean_in_mem0(
    filtered: Memory, condition: dict[str, Any], expected: set[int]
) -> None:
    filters = {**ADA, **condition}
    for found in (
        filtered.get_all(filters=filters),
        filtered.search("The tree has number", filters=filters, threshold=0),
    ):
        assert {one["metadata"]["n"] for one in found["results"]} == expected


@pytest.fixture(scope="module")
def filtered(home: Recollect) -> Memory:
    """Three memories with metadata."""
    memory = Memory(home, zone="filtered")
    for n, word in ((1, "Apple"), (2, "Birch"), (3, None)):
        memory.add(
            f"The tree has number {n}.",
            user_id="ada",
            infer=False,
            metadata={"n": n, **({"word": word} if word else {})},
            timestamp=f"2026-0{n}-10T12:00:00Z",
        )
    return memory


@pytest.mark.parametrize("infer", [True, False])
def test_an_update_takes_effect_everywhere_and_history_has_both(
    memory: Memory, infer: bool
) -> None:
    (added,) = memory.add("I live in Turin.", user_id="ada", metadata={"a": 1}, infer=infer)[
        "results"
    ]
    done = memory.update(added["id"], "I live in Oslo.", metadata={"b": 2, "user_id": "bob"})
    assert done == {"message": "Memory updated successfully!"}
    kept = memory.get(added["id"])
    assert kept is not None
    assert (kept["memory"], kept["metadata"]) == ("I live in Oslo.", {"a": 1, "b": 2})
    assert kept["user_id"] == "ada"
    assert kept["updated_at"] > kept["created_at"]
    assert texts(memory.get_all(filters=ADA)) == ["I live in Oslo."]
    found = memory.search("live in Turin or Oslo", filters=ADA)["results"]
    assert [(one["id"], one["memory"]) for one in found] == [(added["id"], "I live in Oslo.")]
    assert [
        (one["event"], one["old_memory"], one["new_memory"]) for one in memory.history(added["id"])
    ] == [
        ("ADD", None, added["memory"]),
        ("UPDATE", added["memory"], "I live in Oslo."),
    ]


def test_what_is_deleted_is_only_in_its_history_until_all_is_erased(
    memory: Memory, home: Recollect
) -> None:
    (added,) = memory.add("The word is qxgoneword.", user_id="ada", infer=False)["results"]
    memory.update(added["id"], "The word was qxgoneword, now another.")
    memory.add("I stay.", user_id="ada", infer=False)
    memory.delete(added["id"])
    assert memory.get(added["id"]) is None
    assert story(memory, added["id"]) == [
        ("ADD", None, "The word is qxgoneword."),
        ("UPDATE", "The word is qxgoneword.", "The word was qxgoneword, now another."),
        ("DELETE", "The word was qxgoneword, now another.", None),
    ]
    assert memory.history(added["id"])[-1]["is_deleted"] is True
    assert texts(memory.get_all(filters=ADA)) == ["I stay."]
    assert "qxgoneword" not in str(memory.search("qxgoneword", filters=ADA, threshold=0))
    with pytest.raises(ValueError, match="not found"):
        memory.delete(added["id"])
    memory.delete_all(user_id="ada")
    assert memory.history(added["id"]) == []
    for file in home.home.rglob("*"):
        if file.is_file():
            assert b"qxgoneword" not in file.read_bytes(), file
    with pytest.raises(ValueError, match="not found"):
        memory.delete(added["id"])


def test_delete_all_takes_what_the_ids_apply_to_and_reset_all_but_the_rest_of_the_zone(
    home: Recollect,
) -> None:
    zone = home.zone("resetting")
    zone.remember("The deploy key is in the blue safe.")
    memory = Memory(home, zone="resetting")
    for user, run in (("ada", "r1"), ("ada", "r2"), ("bob", "r1")):
        memory.add(f"{user} in {run}", user_id=user, run_id=run, infer=False)
    memory.delete_all(user_id="ada", run_id="r1")
    assert sorted(texts(memory.get_all(filters={"user_id": "*"}))) == ["ada in r2", "bob in r1"]
    with pytest.raises(ValueError, match="At least one filter"):
        memory.delete_all()
    memory.reset()
    assert texts(memory.get_all(filters={"user_id": "*"})) == []
    assert "blue safe" in zone.recall("deploy key").results[0].text


def test_what_has_expired_is_found_only_where_asked(memory: Memory) -> None:
    memory.add("The code is 1.", user_id="ada", infer=False, expiration_date="2020-01-01")
    memory.add("The code is 2.", user_id="ada", infer=False, expiration_date="2190-01-01")
    assert texts(memory.get_all(filters=ADA)) == ["The code is 2."]
    assert texts(memory.search("The code", filters=ADA)) == ["The code is 2."]
    assert len(memory.search("The code", filters=ADA, show_expired=True)["results"]) == 2


def test_wrong_calls_are_value_errors(memory: Memory) -> None:
    two = memory.add("I live in Turin. I play chess.", user_id="ada")["results"]
    assert len(two) == 2
    calls: list[tuple[str, Any]] = [
        ("user_id", lambda: memory.search("x", user_id="ada")),
        ("run_id", lambda: memory.get_all(run_id="ada")),
        ("at least one", lambda: memory.search("x")),
        ("at least one", lambda: memory.get_all(filters={"AND": [ADA]})),
        ("at least one", lambda: memory.add("x")),
        ("user_id", lambda: memory.add("x", user_id=" ")),
        ("user_id", lambda: memory.search("x", filters={"user_id": None})),
        ("operator", lambda: memory.search("x", filters={**ADA, "n": {"like": 1}})),
        ("OR", lambda: memory.search("x", filters={**ADA, "OR": []})),
        ("top_k", lambda: memory.search("x", filters=ADA, top_k=-1)),
        ("threshold", lambda: memory.search("x", filters=ADA, threshold=2)),
        ("query", lambda: memory.search(" ", filters=ADA)),
        ("messages", lambda: memory.add([], user_id="ada")),
        ("messages", lambda: memory.add([{"role": "system", "content": "x"}], user_id="ada")),
        ("messages", lambda: memory.add(7, user_id="ada")),  # type: ignore[arg-type]
        ("At least one", lambda: memory.update(two[0]["id"])),
        ("text is empty", lambda: memory.update(two[0]["id"], " ")),
        ("no memory", lambda: memory.update("nothing", "x")),
        ("expiration_date", lambda: memory.add("x", user_id="ada", expiration_date="soon")),
    ]
    for named, call in calls:
        with pytest.raises(ValueError, match=named):
            call()
    assert len(memory.get_all(filters=ADA)["results"]) == 2
    assert memory.get("nothing") is None
    assert memory.search("x", filters=ADA, top_k=0) == {"results": []}


def test_an_empty_zone_holds_nothing(memory: Memory, home: Recollect) -> None:
    assert memory.search("anything", filters=ADA) == {"results": []}
    assert memory.get_all(filters=ADA) == {"results": []}
    assert memory.history("x") == []
    memory.delete_all(user_id="ada")
    memory.reset()


def test_async_memory_does_the_same(tmp_path: Path) -> None:
    async def live() -> None:
        config = {"recollect": {"home": tmp_path / "home", "encoder": "none"}, "llm": {}}
        async with await AsyncMemory.from_config(config) as memory:
            added = await memory.add("I live in Turin.", user_id="ada", infer=False)
            id_ = added["results"][0]["id"]
            assert await memory.search("Turin", filters=ADA) != {"results": []}
            await memory.update(id_, text="I live in Oslo.")
            assert texts(await memory.get_all(filters=ADA)) == ["I live in Oslo."]
            assert len(await memory.history(id_)) == 2
            await memory.delete(id_)
            assert await memory.get(id_) is None
            await memory.delete_all(user_id="ada")
            await memory.reset()

    asyncio.run(live())


def test_what_is_over_is_no_memory_and_stands_in_the_history(memory: Memory) -> None:
    """Fault 5."""
    added = [memory.add("I live in Paris.", user_id="ada")["results"] for _ in range(3)]
    assert [[one["event"] for one in results] for results in added] == [["ADD"], ["NONE"], ["NONE"]]
    assert len({one["id"] for results in added for one in results}) == 1
    assert texts(memory.get_all(filters=ADA)) == ["Ada lives in Paris."]
    (newer,) = memory.add("I moved to Lyon.", user_id="ada")["results"]
    (listed,) = memory.get_all(filters=ADA)["results"]
    assert listed["id"] == newer["id"]
    for asked in ("Where does Ada live?", "Paris", "Lyon", "live Paris Lyon"):
        found = memory.search(asked, filters=ADA)["results"]
        assert "Paris" not in str(found), asked
    assert "Lyon" in texts(memory.search("Lyon", filters=ADA))[0]
    assert [(one["event"], one["new_memory"]) for one in memory.history(newer["id"])] == [
        ("ADD", "Ada lives in Paris."),
        ("UPDATE", newer["memory"]),
    ]


SEVERAL = (
    "I live in Turin. My favourite tea is oolong. I am allergic to peanuts. "
    "The harbour smells of herring, and the gulls scream."
)


def story(memory: Memory, id_: str) -> list[tuple[str, str | None, str | None]]:
    return [(one["event"], one["old_memory"], one["new_memory"]) for one in memory.history(id_)]


def added_one(memory: Memory, word: str, **options: Any) -> tuple[dict[str, Any], list[str]]:
    """Add several memories in one message; return that with a word, and the others' texts."""
    added = memory.add(SEVERAL, user_id="ada", **options)["results"]
    assert len(added) == 4
    (one,) = [each for each in added if word in each["memory"]]
    return one, sorted(each["memory"] for each in added if each is not one)


@pytest.mark.parametrize("word", ["Turin", "oolong", "herring"])
def test_fault_1_one_of_several_is_deleted_for_good(
    memory: Memory, home: Recollect, word: str
) -> None:
    one, others = added_one(memory, word)
    memory.delete(one["id"])
    assert memory.get(one["id"]) is None
    assert story(memory, one["id"]) == [
        ("ADD", None, one["memory"]),
        ("DELETE", one["memory"], None),
    ]
    for asked in (word, "Turin oolong peanuts herring gulls", "What do you know about Ada?"):
        assert word not in str(memory.search(asked, filters=ADA, top_k=50))
    memory.add("I play chess.", user_id="ada")
    home.zone(memory._store.zone.name).rebuild(level="derive")
    assert sorted(texts(memory.get_all(filters=ADA))) == sorted([*others, "Ada plays chess."])
    assert home.zone(memory._store.zone.name).get_memory(one["id"]) is not None
    with pytest.raises(ValueError, match="not found"):
        memory.delete(one["id"])
    again = {each["memory"]: each for each in memory.add(SEVERAL, user_id="ada")["results"]}
    assert again[one["memory"]]["event"] == "ADD"
    assert {again[text]["event"] for text in others if "gulls" not in text} == {"NONE"}
    assert memory.get(again[one["memory"]]["id"]) is not None
    assert sorted([one["memory"], *others, "Ada plays chess."]) == sorted(
        texts(memory.get_all(filters=ADA))
    )


def test_fault_1_what_is_deleted_is_erased_with_all_of_its_user(
    memory: Memory, home: Recollect
) -> None:
    one, _ = added_one(memory, "oolong", metadata={"from": "qxmetadata"})
    memory.update(one["id"], "My favourite tea is qxsencha.")
    memory.update(one["id"], "My favourite tea is qxmatcha.")
    memory.delete(one["id"])
    memory.delete_all(user_id="ada")
    assert memory.history(one["id"]) == []
    for file in home.home.rglob("*"):
        if file.is_file():
            held = file.read_bytes()
            assert not any(word in held for word in (b"qxsencha", b"qxmatcha", b"qxmetadata")), file


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("Turin", "She moved away, to a cottage near Siena."),
        ("oolong", "Ada's favourite tea is sencha."),
        ("peanuts", "I am allergic to peanuts!"),
        ("herring", "The harbour smells of roses."),
    ],
)
def test_fault_2_one_of_several_is_replaced(memory: Memory, word: str, text: str) -> None:
    one, others = added_one(memory, word, metadata={"a": 1})
    memory.update(one["id"], text, metadata={"b": 2})
    kept = memory.get(one["id"])
    assert kept is not None
    assert (kept["memory"], kept["metadata"]) == (text, {"a": 1, "b": 2})
    assert sorted(texts(memory.get_all(filters=ADA))) == sorted([text, *others])
    found = memory.search(text, filters=ADA)["results"]
    assert (one["id"], text) in [(each["id"], each["memory"]) for each in found]
    assert one["memory"] not in texts(memory.search(word, filters=ADA, top_k=50))
    memory.update(one["id"], f"{text} Really.")
    told = [
        ("ADD", None, one["memory"]),
        ("UPDATE", one["memory"], text),
        ("UPDATE", text, f"{text} Really."),
    ]
    assert story(memory, one["id"]) == told
    memory.delete(one["id"])
    assert sorted(texts(memory.get_all(filters=ADA))) == others
    assert story(memory, one["id"]) == [*told, ("DELETE", f"{text} Really.", None)]


@pytest.mark.parametrize("said", [SEVERAL, "I live in Turin.", "The harbour smells of herring."])
@pytest.mark.parametrize("infer", [True, False])
def test_fault_2_metadata_alone_changes_no_text(memory: Memory, said: str, infer: bool) -> None:
    added = memory.add(said, user_id="ada", infer=infer)["results"]
    for one in added:
        memory.update(one["id"], metadata={"seen": one["id"]})
    listed = {one["id"]: one for one in memory.get_all(filters=ADA)["results"]}
    assert {id_: one["memory"] for id_, one in listed.items()} == {
        one["id"]: one["memory"] for one in added
    }
    assert all(one["metadata"] == {"seen": id_} for id_, one in listed.items())
    again = memory.add(said, user_id="ada", infer=infer)["results"]
    assert {one["event"] for one in again} == {"NONE"}
    assert {one["id"] for one in again} == set(listed)


def test_fault_2_an_update_is_over_when_the_user_says_so(memory: Memory) -> None:
    one, _ = added_one(memory, "Turin")
    memory.update(one["id"], "I live in Oslo.")
    memory.add("I moved to Lyon.", user_id="ada")
    listed = texts(memory.get_all(filters=ADA))
    assert not any("Oslo" in text or "Turin" in text for text in listed)
    assert any("Lyon" in text for text in listed)


def test_fault_2_what_is_equal_is_replaced_together(memory: Memory) -> None:
    for infer in (False, True):
        text = f"The harbour smells of herring {infer}."
        first, _ = (memory.add(text, user_id="ada", infer=infer)["results"][0] for _ in range(2))
        memory.update(first["id"], f"It smells of roses {infer}.")
    assert sorted(texts(memory.get_all(filters=ADA))) == [
        "It smells of roses False.",
        "It smells of roses True.",
    ]


@pytest.mark.parametrize(
    ("owner", "other"),
    [
        ({"user_id": "ada", "run_id": "r1"}, {"user_id": "ada", "run_id": "r2"}),
        ({"user_id": "ada"}, {"user_id": "ada", "agent_id": "helper"}),
        ({"user_id": "ada"}, {"user_id": "bob"}),
    ],
)
@pytest.mark.parametrize("change", ["delete", "update"])
def test_fault_1_what_another_run_or_user_added_stays(
    memory: Memory, owner: dict[str, Any], other: dict[str, Any], change: str
) -> None:
    first = memory.add("I live in Paris. I own a canoe.", **owner)["results"]
    (theirs,) = memory.add("I own a canoe.", **other)["results"]
    (one,) = [each for each in first if "canoe" in each["memory"]]
    if change == "delete":
        memory.delete(one["id"])
    else:
        memory.update(one["id"], "I like hiking.")
    assert memory.get(theirs["id"]) is not None
    assert texts(memory.get_all(filters=other)) == [theirs["memory"]]
    assert texts(memory.search("Who owns a canoe?", filters=other)) == [theirs["memory"]]


def test_fault_5_the_same_memory_three_times_then_another(memory: Memory) -> None:
    for _ in range(3):
        memory.add("I live in Paris.", user_id="ada")
    memory.add("I live in Lyon.", user_id="ada")
    (current,) = memory.get_all(filters=ADA)["results"]
    assert current["memory"] == "Ada lives in Lyon."
    assert texts(memory.search("Where does Ada live?", filters=ADA)) == ["Ada lives in Lyon."]
    assert [new for _, _, new in story(memory, current["id"])] == [
        "Ada lives in Paris.",
        "Ada lives in Lyon.",
    ]


def test_what_another_said_ends_no_memory(memory: Memory) -> None:
    """Fault 5, and whose words nobody else finds."""
    memory.add("I live in Paris.", user_id="ada")
    memory.add("Ada lives in Lyon.", user_id="bob")
    assert texts(memory.get_all(filters=ADA)) == ["Ada lives in Paris."]
    assert "Lyon" not in str(memory.search("Where does Ada live? Lyon", filters=ADA))
    (kept,) = memory.get_all(filters=ADA)["results"]
    assert "Lyon" not in str(memory.history(kept["id"]))
    memory.add("I live in Paris.", user_id="bob")
    assert any("Paris" in text for text in texts(memory.get_all(filters=BOB)))


def test_the_same_words_are_one_memory_and_go_together(memory: Memory) -> None:
    """Fault 5: verbatim, and deleted."""
    first, second = (
        memory.add("The blue key opens the shed.", user_id="ada", infer=False)["results"]
        for _ in range(2)
    )
    assert (second[0]["id"], second[0]["event"]) == (first[0]["id"], "NONE")
    memory.add("The blue key opens the shed.", user_id="bob", infer=False)
    assert texts(memory.get_all(filters=ADA)) == ["The blue key opens the shed."]
    assert len(memory.search("blue key shed", filters=ADA)["results"]) == 1
    memory.delete(first[0]["id"])
    assert memory.get_all(filters=ADA) == {"results": []}
    assert texts(memory.get_all(filters=BOB)) == ["The blue key opens the shed."]
    for said in ("I play chess.", "I play chess.", "I play chess! I own a boat."):
        memory.add(said, user_id="ada")
    chess, boat = sorted(memory.get_all(filters=ADA)["results"], key=lambda one: one["memory"])[
        ::-1
    ]
    assert (chess["memory"], boat["memory"]) == ("Ada plays chess.", "Ada owns a boat.")
    memory.delete(chess["id"])
    assert "chess" not in str(memory.get_all(filters=ADA))


def test_many_that_were_added_before_are_the_same_memories(memory: Memory) -> None:
    """Fault 5."""
    said = [{"role": "user", "content": f"Line {n} of the poem."} for n in range(12)]
    first = memory.add(said, user_id="ada", infer=False)["results"]
    again = memory.add(said[3:], user_id="ada", infer=False)["results"]
    assert {one["event"] for one in again} == {"NONE"}
    assert [one["id"] for one in again] == [one["id"] for one in first[3:]]
    assert len(memory.get_all(filters=ADA, top_k=100)["results"]) == 12


@pytest.mark.parametrize(
    "said",
    [
        "My cat's name is Poppy. She's a grey tabby with a limp.",
        "Hi! I live in Bergen. The harbour smells of herring, honestly.",
        "I own a boat. I own a cat. Unrelated: the boiler rattles at night.",
        "We agreed that the invoice template gets a teal header.",
        "Ich wohne in Graz und mag Knödel.",
    ],
)
@pytest.mark.parametrize("infer", [True, False])
def test_every_word_that_was_added_finds_a_memory_that_has_it(
    memory: Memory, said: str, infer: bool
) -> None:
    """Fault 6."""
    memory.add(said, user_id="ada", infer=infer)
    passed_over = STOP_WORDS | {"hi", "honestly"}
    for word in re.findall(r"[^\W\d_]{2,}", said):
        if word.lower() in passed_over:
            continue
        found = texts(memory.search(word, filters=ADA))
        stem = word.lower().removesuffix("s")
        assert any(stem in text.lower() for text in found), word
    listed = " ".join(texts(memory.get_all(filters=ADA)))
    assert len(listed) < 2 * len(said)


def test_instructions_greetings_and_thanks_are_no_memories(memory: Memory) -> None:
    """Fault 7."""
    said = [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "developer", "content": "Answer in French at all times."},
        {"role": "user", "content": "Good morning!"},
        {"role": "assistant", "content": "Hello Ada! How are you today?"},
        {"role": "user", "content": "I bake rye bread."},
        {"role": "assistant", "content": "Sounds great."},
        {"role": "user", "content": "Many thanks!"},
        {"role": "assistant", "content": "You're welcome!"},
        {"role": "user", "content": "bye"},
    ]
    assert texts(memory.add(said, user_id="ada")) == ["Ada bakes rye bread."]
    assert texts(memory.get_all(filters=ADA)) == ["Ada bakes rye bread."]
    found = texts(memory.search("French hello thanks morning rye", filters=ADA))
    assert found == ["Ada bakes rye bread."]
    # Verbatim is verbatim.
    memory.add("Good morning!", user_id="bob", infer=False)
    assert texts(memory.get_all(filters=BOB)) == ["Good morning!"]


def test_of_a_conversation_in_one_text_nothing_is_concluded_from_the_assistant(
    memory: Memory,
) -> None:
    """Faults 7 and 8."""
    said = "User: I bake rye bread.\nAssistant: <think>Hm.</think>My name is Claude."
    added = texts(memory.add(said, user_id="ada"))
    assert added == ["Ada bakes rye bread.", "My name is Claude."]
    assert {one.get("role") for one in memory.get_all(filters=ADA)["results"]} == {
        "user",
        "assistant",
    }


def test_what_was_kept_and_what_was_not_is_told_item_by_item(memory: Memory) -> None:
    """Fault 7."""
    long = "x" * (MAX_CONTENT_BYTES + 1)
    said = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "I bake rye bread."},
        {"role": "user", "content": long},
        {"role": "user", "content": "I play chess."},
    ]
    with pytest.raises(ValueError, match=r"messages\[2\] was not stored: content") as caught:
        memory.add(said, user_id="ada")
    assert str(caught.value).endswith("stored: messages[1], messages[3]")
    assert set(texts(memory.get_all(filters=ADA))) == {"Ada bakes rye bread.", "Ada plays chess."}
    with pytest.raises(ValueError, match=r"none of 2 events can be stored; event 1: .*; event 2: "):
        memory.add([said[2], said[2]], user_id="ada")


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Memory, Any]]:
    """Ours and theirs, with the same encoder and the same statements."""
    room = tmp_path_factory.mktemp("beside")
    made = Home.create_or_open(room / "home", encoder="all-MiniLM-L6-v2", source="wheel")
    their_memory = their_memory_with(made.load_encoder(), room)
    with Recollect(made) as opened:
        ours = Memory(opened)
        for text in STATEMENTS:
            ours.add(text, user_id="ada")
            their_memory.add(text, user_id="ada", infer=False)
        yield ours, their_memory


STATEMENTS = (
    *("I moved to Bergen in April", "I'm vegan and can't stand coriander"),
    *("My favourite band is Sigur Ros", "I teach physics at a secondary school"),
    *("My brother Anton is having a baby in June", "I cycle to work unless it rains"),
    *("I prefer aisle seats", "My parrot is called Kiwi", "I'm learning to weld"),
)
QUESTIONS = (
    *("Where do I live?", "What do you know about me?", "What should I cook tonight?"),
    *("Which music do I like?", "What is my job?", "Any news in the family?", "hobbies"),
    *("How do I get to the office?", "Which seat should you book?", "Do I have pets?"),
    *("What are my preferences?", "Recommend a concert", "Which animals do I keep?"),
)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_has_as_many_answers_as_in_their_memory(
    beside: tuple[Memory, Any], question: str
) -> None:
    """Fault 3. A statement of theirs is one memory or several of ours."""
    ours, theirs = beside
    found = texts(ours.search(question, filters=ADA))
    wanted = texts(theirs.search(question, filters=ADA))
    assert len(found) >= len(wanted)
    assert bool(found) == bool(wanted)
    strict = texts(ours.search(question, filters=ADA, threshold=0.3))
    assert len(texts(theirs.search(question, filters=ADA, threshold=0.3))) <= len(strict)
    assert len(strict) < len(STATEMENTS)
    assert len(texts(ours.search(question, filters=ADA, top_k=2))) <= 2


def test_what_is_not_decided_has_no_memories_yet(home: Recollect) -> None:
    """Its message is no memory: that would be gone once its facts are."""
    zone = home.zone("undecided")
    store = Mem0Store(zone)
    ada = Owner.of(ADA)
    inferred = store.publish("I live in Turin. I work at Olivetti.", ada).id
    verbatim = store.publish("The key is under the mat.", ada, infer=False).id
    assert store.added(inferred) == ([], False)
    ((kept,), is_decided) = store.added(verbatim)
    assert (kept["memory"], is_decided) == ("The key is under the mat.", True)
    zone.decide()
    memories, is_decided = store.added(inferred)
    assert is_decided
    assert len(memories) == 2
    listed = {one["id"] for one in store.list_memories(ADA)}
    assert {one["id"] for one in memories} | {kept["id"]} == listed


def test_new_metadata_reads_no_other_memories_of_the_owner(
    home: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    zone = home.zone("many")
    store, ada = Mem0Store(zone), Owner.of(ADA)
    added = store.publish("I live in Turin. I work at Olivetti.", ada, wait=True)
    (memory, _), _ = store.added(added.id)
    others = [{"role": "user", "content": f"The key is under mat {n}."} for n in range(40)]
    store.publish(others, ada, infer=False, wait=True)
    listed, read = zone.list_memories, 0

    def counted(_: Any, *given: Any, **filters: Any) -> Any:
        nonlocal read
        page = listed(*given, **filters)
        read += len(page.memories)
        return page

    monkeypatch.setattr(type(zone), "list_memories", counted)
    store.update(memory["id"], metadata={"sure": True}, wait=True)
    assert 0 < read < len(others)
    found = store.get(memory["id"])
    assert found is not None
    assert (found["memory"], found["metadata"]) == (memory["memory"], {"sure": True})
