"""LangChain's own suite for retrievers, and a chat history beside its own in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.chat_history import BaseChatMessageHistory, InMemoryChatMessageHistory
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests

from recollect import Recollect, Zone
from recollect.integrations.langchain_memory import RecollectChatMessageHistory, RecollectRetriever
from recollect.schemas.errors import InvalidInput
from tests.library.kit import said
from tests.remote.kit import client
from tests.service.kit import served


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recollect]:
    with Recollect(tmp_path_factory.mktemp("langchain") / "home", encoder="none") as r:
        r.zone("cities").ingest(
            [
                said(f"m{number}", f"I once lived in {city}.", minute=number)
                for number, city in enumerate(["Turin", "Oslo", "Lyon", "Porto", "Ghent"])
            ]
        )
        yield r


@pytest.mark.anyio
class TestRetriever(RetrieversIntegrationTests):
    """What LangChain asks of every retriever, unmodified."""

    @pytest.fixture(autouse=True)
    def _zone(self, home: Recollect) -> None:
        self.zone = home.zone("cities")

    @pytest.fixture
    def anyio_backend(self) -> str:
        return "asyncio"

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return RecollectRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"zone": self.zone}

    @property
    def retriever_query_example(self) -> str:
        return "Where has Ada lived?"


def test_a_document_says_where_it_comes_from(home: Recollect) -> None:
    retriever = RecollectRetriever(zone=home.zone("cities"), k=1, fields={"scope": "events"})
    (document,) = retriever.invoke("Who lived in Porto?")
    assert document.page_content == "I once lived in Porto."
    assert document.metadata["source_event_ids"] == ["m3"]
    assert document.metadata["as_of"] == "2026-05-08T10:03:00.000Z"
    assert home.zone("cities").get_memory(str(document.id)).text == document.page_content


MESSAGES = [
    SystemMessage("Be brief."),
    HumanMessage("I moved to Turin."),
    AIMessage(
        "", tool_calls=[{"name": "map", "args": {"of": "Turin"}, "id": "c1", "type": "tool_call"}]
    ),
    ToolMessage("nul \0 and half a pair \ud83d", tool_call_id="c1"),
    AIMessage([{"type": "text", "text": "Turin is lovely."}]),
    HumanMessage("I moved to Turin."),
]


def test_a_history_holds_what_the_one_in_memory_holds(home: Recollect) -> None:
    zone = home.zone("history")
    ours: BaseChatMessageHistory = RecollectChatMessageHistory(zone, "s1", user_id="ada")
    theirs = InMemoryChatMessageHistory()
    for one in (ours, theirs):
        one.add_messages(MESSAGES)
        one.add_user_message("And again?")
        one.add_ai_message("Yes.")
    assert ours.messages == theirs.messages
    assert RecollectChatMessageHistory(zone, "s1").messages == theirs.messages
    assert RecollectChatMessageHistory(zone, "s2").messages == []
    assert str(ours) == str(theirs)


def test_the_user_is_concluded_from_and_the_model_is_not(home: Recollect) -> None:
    zone = home.zone("voices")
    history = RecollectChatMessageHistory(zone, "s", user_id="ada", user_name="Ada")
    history.add_user_message("I moved to Turin.")
    history.add_ai_message("I moved to Atlantis.")
    assert [fact.text for fact in zone.facts()] == ["Ada moved to Turin."]


def test_a_cleared_session_is_forgotten_and_another_stays(home: Recollect) -> None:
    zone = home.zone("clearing")
    one, two = (RecollectChatMessageHistory(zone, name) for name in ("one", "two"))
    one.add_user_message("I moved to Turin.")
    two.add_user_message("I bought a boat.")
    one.clear()
    one.clear()
    assert one.messages == []
    assert [memory.text for memory in zone.list_memories("events").memories] == ["I bought a boat."]
    one.add_user_message("I moved to Turin.")
    assert [message.text for message in one.messages] == ["I moved to Turin."]


def test_of_messages_one_of_which_cannot_be_kept_none_is(home: Recollect) -> None:
    history = RecollectChatMessageHistory(home.zone("refusing"), "s")
    with pytest.raises(InvalidInput, match="was not stored"):
        history.add_messages([HumanMessage("fine"), HumanMessage("x" * 2_000_000)])
    assert history.messages == []


def test_the_async_methods_over_a_service(tmp_path: Path) -> None:
    async def run(zone: Zone) -> None:
        history = RecollectChatMessageHistory(zone, "s")
        assert await history.aget_messages() == []
        await history.aadd_messages([HumanMessage("I moved to Turin."), AIMessage("Noted.")])
        assert [item.text for item in await history.aget_messages()] == [
            "I moved to Turin.",
            "Noted.",
        ]
        (document, *_) = await RecollectRetriever(zone=zone).ainvoke("Turin")
        assert "Turin" in document.page_content
        assert len(await RecollectRetriever(zone=zone).ainvoke("Turin", k=1)) == 1
        await history.aclear()
        assert await history.aget_messages() == []

    with served(tmp_path / "home") as service, client(service) as r:
        asyncio.run(run(r.zone("ada")))
