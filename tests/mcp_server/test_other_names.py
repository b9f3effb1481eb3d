"""The tools under the names of others, in exactly the shapes that their agents read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect
from recollect.compat.mem0 import Memory
from recollect.mcp_server.memory_server import create_server, for_zone
from tests.library.kit import said
from tests.mcp_server.kit import TOOL_SETS, Agent, agent, command


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("mcp") / "home"
    with Recollect(place, encoder="none") as r:
        r.zone().ingest([said("m1", "I live in Turin."), said("m2", "I sail.", by="Bob", minute=1)])
    return place


@pytest.fixture(scope="module")
def chatgpt(home: Path) -> Iterator[Agent]:
    with agent(command(home, "mcp", "--tools", "chatgpt")) as connected:
        yield connected


@pytest.fixture(scope="module")
def mem0(home: Path) -> Iterator[Agent]:
    with agent(command(home, "mcp", "--tools", "mem0")) as connected:
        yield connected


def test_every_tool_is_called_here(mem0: Agent, chatgpt: Agent) -> None:
    text = Path(__file__).read_text()
    for name in (*mem0.tools(), *chatgpt.tools()):
        assert f'.call("{name}"' in text or f'.call(\n        "{name}"' in text, name


def test_mem0_adds_searches_updates_and_deletes(mem0: Agent) -> None:
    (added,) = mem0.call("add_memory", text="Ada likes tea.", user_id="ada")["results"]
    assert set(added) == {"id", "memory", "event"}
    assert added["memory"].endswith("Ada likes tea."), "as a fact of it says"
    assert added["event"] == "ADD"
    found = mem0.call("search_memories", query="What does Ada like?", filters={"user_id": "ada"})
    (best,) = found["results"]
    assert best["memory"] == added["memory"]
    assert best["user_id"] == "ada"
    assert {"id", "memory", "user_id", "created_at", "updated_at", "score"} == set(best)
    one = mem0.call("get_memory", memory_id=added["id"])
    assert {**one, "score": best["score"]}["memory"] == best["memory"]
    (updated,) = mem0.call("update_memory", memory_id=added["id"], text="Ada likes coffee.")[
        "results"
    ]
    assert updated["event"] == "UPDATE"
    assert "successfully" in mem0.call("delete_memory", memory_id=updated["id"])["message"]
    assert "no memory has the id" in mem0.refused("get_memory", memory_id=updated["id"])


def test_mem0_takes_a_conversation(mem0: Agent) -> None:
    added = mem0.call(
        "add_memory",
        messages=[
            {"role": "user", "content": "I play the cello."},
            {"role": "assistant", "content": "The cello has four strings."},
        ],
        user_id="eve",
        run_id="run-1",
        metadata={"app": "test"},
    )["results"]
    both = ["Eve plays the cello.", "The cello has four strings."]
    assert [item["memory"] for item in added] == both
    again = mem0.call("get_memories", filters={"AND": [{"user_id": "eve"}]})["results"]
    assert {item["memory"] for item in again} == set(both)
    assert {item["run_id"] for item in again} == {"run-1"}
    assert [item["metadata"] for item in again] == [{"app": "test"}] * 2
    assert "give user_id" in mem0.refused("delete_all_memories")
    mem0.call("delete_all_memories", user_id="eve")
    assert mem0.call("get_memories", filters={"user_id": "eve"})["results"] == []


def test_mem0_lists_by_pages(mem0: Agent) -> None:
    for number in range(3):
        mem0.call("add_memory", text=f"I keep box {number}.", user_id="pam")
    filters = {"user_id": "pam"}
    first = mem0.call("get_memories", filters=filters, page=1, page_size=2)
    assert first["next"] == 2
    assert len(first["results"]) == 2
    everything = mem0.call("get_memories", filters=filters, page_size=100)
    assert "next" not in everything
    assert first["results"] == everything["results"][:2]
    owners = {(item["type"], item["id"]) for item in mem0.call("list_entities")["results"]}
    assert ("user", "pam") in owners
    assert not {name for _, name in owners} & {"Ada", "Bob"}


def test_mem0_s_tools_and_its_other_interfaces_see_the_same_memories(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    place = tmp_path_factory.mktemp("both") / "home"
    with Recollect(place, encoder="none") as r:
        r.zone().ingest(said("m1", "I live in Turin.", by="ada"))
        with agent(create_server(for_zone(r.zone()), tools=TOOL_SETS["mem0"])) as tools:
            tools.call("add_memory", text="I like tea.", user_id="ada")
            memory = Memory(r)
            memory.add("I sail.", user_id="ada", infer=False)
            theirs = {
                item["memory"] for item in memory.get_all(filters={"user_id": "ada"})["results"]
            }
            shown = tools.call("get_memories", filters={"user_id": "ada"})["results"]
            assert {item["memory"] for item in shown} == theirs
            assert len(theirs) == 2
            (one,) = [item for item in shown if item["memory"] == "I sail."]
            tools.call("update_memory", memory_id=one["id"], text="I row.")
            assert (memory.get(one["id"]) or {})["memory"] == "I row."
            tools.call("delete_all_memories", user_id="ada")
            assert memory.get_all(filters={"user_id": "ada"})["results"] == []
        assert r.zone().get_memory("m1").text == "I live in Turin."


def test_mem0_refuses_filters_that_it_would_pass_over(mem0: Agent) -> None:
    wrong: tuple[dict[str, Any], ...] = (
        {"created_at": {"since": "2024"}},
        {"OR": []},
        {"AND": "x"},
    )
    for filters in wrong:
        assert "filters" in mem0.refused("search_memories", query="tea", filters=filters)
    assert "enable_graph" in mem0.refused("search_memories", query="tea", enable_graph=True)
    assert "`text` and `messages`" in mem0.refused("add_memory", user_id="ada")


def test_chatgpt_searches_and_fetches(chatgpt: Agent) -> None:
    assert set(chatgpt.tools()) == {"search", "fetch"}
    found = chatgpt.call("search", query="Where does Ada live?")
    assert set(found) == {"results"}
    best = found["results"][0]
    assert set(best) == {"id", "title", "url"}
    assert "Turin" in best["title"]
    document = chatgpt.call("fetch", id=best["id"])
    assert set(document) == {"id", "title", "text", "url", "metadata"}
    assert document["text"] == "Ada lives in Turin."
    assert document["metadata"]["sources"] == "m1"
    assert "Ada lives in Turin." in chatgpt.read(document["url"])
