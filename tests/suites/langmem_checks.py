"""LangMem's tools and its store manager, with our store for LangGraph on a service.

Run in the environment of the suites, by `python -m tests.suites`.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.func import entrypoint  # type: ignore[import-untyped]
from langmem import (  # type: ignore[import-not-found]
    create_manage_memory_tool,
    create_memory_searcher,
    create_memory_store_manager,
    create_search_memory_tool,
)

from recollect import Recollect
from recollect.integrations.langgraph_store import RecollectStore

CONFIG = {"configurable": {"langgraph_user_id": "ada"}}
NAMESPACE = ("memories", "{langgraph_user_id}")
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class ScriptedModel(GenericFakeChatModel):
    """A chat model that answers with the next message of a script, whatever tools it is given."""

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        """Take the tools, and keep to the script."""
        return self


@pytest.fixture
def store() -> Iterator[RecollectStore]:
    """Our store, on a zone of its own."""
    with Recollect(os.environ["RECOLLECT_URL"], token=os.environ["RECOLLECT_TOKEN"]) as r:
        yield RecollectStore(r.zone(f"z{uuid.uuid4().hex[:8]}"))


def manage(store: RecollectStore, **given: Any) -> str:
    """Call the tool that writes; return the id of the memory."""
    tool = create_manage_memory_tool(NAMESPACE, store=store)
    found = _ID.search(tool.invoke(given, CONFIG))
    assert found is not None
    return found[0]


def search(store: RecollectStore, query: str, **given: Any) -> str:
    """Return what the tool that searches answers an agent."""
    answer: str = create_search_memory_tool(NAMESPACE, store=store).invoke(
        {"query": query, **given}, CONFIG
    )
    return answer


def call(name: str, **arguments: Any) -> AIMessage:
    """Return the answer of a model that calls one tool."""
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": uuid.uuid4().hex}])


def test_a_memory_is_created_and_found(store: RecollectStore) -> None:
    key = manage(store, content="Ada lives in Turin.")
    item = store.get(("memories", "ada"), key)
    assert item is not None
    assert item.value == {"content": "Ada lives in Turin."}
    assert "Turin" in search(store, "Where does Ada live?")


def test_a_memory_is_updated(store: RecollectStore) -> None:
    key = manage(store, content="Ada lives in Turin.")
    assert manage(store, content="Ada lives in Oslo.", action="update", id=key) == key
    found = search(store, "Where does Ada live?")
    assert "Oslo" in found
    assert "Turin" not in found


def test_a_memory_is_deleted(store: RecollectStore) -> None:
    key = manage(store, content="Ada lives in Turin.")
    manage(store, action="delete", id=key)
    assert store.get(("memories", "ada"), key) is None
    assert "Turin" not in search(store, "Where does Ada live?")


def test_users_have_memories_of_their_own(store: RecollectStore) -> None:
    manage(store, content="Ada lives in Turin.")
    other = create_search_memory_tool(NAMESPACE, store=store).invoke(
        {"query": "Turin"}, {"configurable": {"langgraph_user_id": "bob"}}
    )
    assert "Turin" not in other


def test_a_search_has_a_limit_an_offset_and_a_filter(store: RecollectStore) -> None:
    for city in ("Turin", "Oslo", "Lagos"):
        manage(store, content=f"Ada has been to {city}.")
    found = [search(store, "Ada", limit=1, offset=offset) for offset in range(3)]
    assert {re.search("Turin|Oslo|Lagos", one)[0] for one in found} == {  # type: ignore[index]
        *("Turin", "Oslo", "Lagos")
    }
    only = search(store, "Ada", filter={"content": "Ada has been to Oslo."})
    assert "Oslo" in only
    assert "Lagos" not in only


@pytest.mark.parametrize("permitted", [("create",), ("update", "delete")])
def test_actions_that_are_not_permitted_are_refused(
    store: RecollectStore, permitted: tuple[str, ...]
) -> None:
    tool = create_manage_memory_tool(NAMESPACE, store=store, actions_permitted=permitted)
    forbidden = "delete" if permitted == ("create",) else "create"
    with pytest.raises(ValueError, match="action"):
        tool.invoke({"content": "x", "action": forbidden}, CONFIG)


def test_the_tools_work_asynchronously(store: RecollectStore) -> None:
    import asyncio

    async def live() -> str:
        writing = create_manage_memory_tool(NAMESPACE, store=store)
        await writing.ainvoke({"content": "Ada lives in Turin."}, CONFIG)
        searching = create_search_memory_tool(NAMESPACE, store=store)
        answer: str = await searching.ainvoke({"query": "Where does Ada live?"}, CONFIG)
        return answer

    assert "Turin" in asyncio.run(live())


def test_the_manager_stores_what_its_model_extracts(store: RecollectStore) -> None:
    model = ScriptedModel(messages=iter([call("Memory", content="Ada lives in Turin.")]))
    manager = create_memory_store_manager(
        model, namespace=NAMESPACE, store=store, query_limit=3, enable_deletes=False
    )
    said = [{"role": "user", "content": "I live in Turin."}]
    (made,) = manager.invoke({"messages": said}, CONFIG)
    assert made["value"]["content"] == {"content": "Ada lives in Turin."}
    (kept,) = store.search(("memories", "ada"), query="Where does Ada live?")
    assert (kept.key, kept.value) == (made["key"], made["value"])


def test_the_searcher_finds_what_its_model_looks_for(store: RecollectStore) -> None:
    manage(store, content="Ada lives in Turin.")
    manage(store, content="Ada keeps bees.")
    model = ScriptedModel(messages=iter([call("search_memory", query="Where does Ada live?")]))
    searcher = create_memory_searcher(model, namespace=NAMESPACE)

    @entrypoint(store=store)  # type: ignore[untyped-decorator,unused-ignore]
    def look_up(messages: list[dict[str, str]]) -> str:
        found = searcher.invoke({"messages": messages})
        return str(found[0].value)

    assert "Turin" in look_up.invoke([{"role": "user", "content": "Where?"}], CONFIG)
