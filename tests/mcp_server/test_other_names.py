"""The tools under the names of others, in exactly the shapes that their agents read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import Recollect
from tests.library.kit import said
from tests.mcp_server.kit import Agent, agent, command


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
    assert (added["memory"], added["event"]) == ("Ada likes tea.", "ADD")
    found = mem0.call("search_memories", query="What does Ada like?", filters={"user_id": "ada"})
    (best,) = found["results"]
    assert best["memory"] == "Ada likes tea."
    assert best["user_id"] == "ada"
    assert {"id", "memory", "user_id", "metadata", "created_at", "updated_at", "score"} == set(best)
    one = mem0.call("get_memory", memory_id=added["id"])
    assert {**one, "score": best["score"]}["memory"] == best["memory"]
    (updated,) = mem0.call("update_memory", memory_id=added["id"], text="Ada likes coffee.")[
        "results"
    ]
    assert updated["event"] == "UPDATE"
    assert "successfully" in mem0.call("delete_memory", memory_id=updated["id"])["message"]
    assert "holds nothing" in mem0.refused("get_memory", memory_id=updated["id"])


def test_mem0_takes_a_conversation(mem0: Agent) -> None:
    added = mem0.call(
        "add_memory",
        messages=[
            {"role": "user", "content": "I play the cello."},
            {"role": "assistant", "content": "How nice."},
        ],
        user_id="eve",
        run_id="run-1",
        metadata={"app": "test"},
    )["results"]
    assert [item["memory"] for item in added] == ["I play the cello.", "How nice."]
    again = mem0.call("get_memories", filters={"AND": [{"user_id": "eve"}]})["results"]
    assert [item["memory"] for item in again] == ["I play the cello."]
    assert "give user_id" in mem0.refused("delete_all_memories")
    mem0.call("delete_all_memories", user_id="eve")
    assert mem0.call("get_memories", filters={"user_id": "eve"})["results"] == []


def test_mem0_lists_by_pages(mem0: Agent) -> None:
    first = mem0.call("get_memories", page=1, page_size=1)
    assert first["next"] == 2
    assert len(first["results"]) == 1
    everything = mem0.call("get_memories", page_size=100)
    assert "next" not in everything
    assert first["results"][0] == everything["results"][0]
    names = {item["name"] for item in mem0.call("list_entities")["results"]}
    assert {"Ada", "Bob"} <= names


def test_mem0_refuses_filters_that_it_would_pass_over(mem0: Agent) -> None:
    for filters in ({"created_at": {"gte": "2024"}}, {"OR": [{"user_id": "a"}]}, {"AND": "x"}):
        assert "filters" in mem0.refused("search_memories", query="tea", filters=filters)
    assert "enable_graph" in mem0.refused("search_memories", query="tea", enable_graph=True)
    assert "text is empty" in mem0.refused("add_memory", user_id="ada")


def test_chatgpt_searches_and_fetches(chatgpt: Agent) -> None:
    assert set(chatgpt.tools()) == {"search", "fetch"}
    found = chatgpt.call("search", query="Where does Ada live?")
    assert set(found) == {"results"}
    best = found["results"][0]
    assert set(best) == {"id", "title", "url"}
    assert "Turin" in best["title"]
    document = chatgpt.call("fetch", id=best["id"])
    assert set(document) == {"id", "title", "text", "url", "metadata"}
    assert "I live in Turin." in document["text"]
    assert document["metadata"]["sources"] == "m1"
    assert "I live in Turin." in chatgpt.read(document["url"])
