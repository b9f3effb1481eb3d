"""LangChain's retriever and chat history over a zone (extra `langchain`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recollect import Result, Zone, needed
from recollect.integrations.kept_items import KeptItems, NewItem
from recollect.integrations.thoughts import strip_reasoning

with needed("langchain"):
    from langchain_core.callbacks import (
        AsyncCallbackManagerForRetrieverRun,
        CallbackManagerForRetrieverRun,
    )
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.documents import Document
    from langchain_core.messages import BaseMessage, message_to_dict, messages_from_dict
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import run_in_executor
    from pydantic import Field


class RecollectRetriever(BaseRetriever):
    """A LangChain retriever that returns the results of recall as documents, best first.

    `k`: the maximum number of results; it can also be passed with each call. `fields`: further
    fields of the query (`entity`, `platform`, `scope`, `min_score`, `time_after`, …). A document
    has the text and the id of a memory; its metadata has score, type, time, speaker and sources.
    """

    zone: Zone
    k: int = Field(default=4, ge=1)
    fields: dict[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        max_results = self.k if k is None else k
        answer = self.zone.recall(query, **{**self.fields, "max_results": max_results})
        return [_document(result) for result in answer.results]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        # The inherited method takes no further arguments.
        return await run_in_executor(
            None,
            self._get_relevant_documents,
            query,
            run_manager=run_manager.get_sync(),
            k=k,
        )


def _document(result: Result) -> Document:
    metadata = {
        "type": result.type,
        "score": result.score,
        "as_of": result.as_of,
        "source_event_ids": result.source_event_ids,
    }
    return Document(page_content=result.text, id=result.id, metadata=metadata)


class RecollectChatMessageHistory(BaseChatMessageHistory):
    """The messages of one LangChain session in order, each stored as an event of a zone.

    Human messages are stored as incoming from `user_id`, and facts are extracted from them; those
    of models and tools are stored as outgoing. `clear` erases the session for good.
    """

    def __init__(
        self,
        zone: Zone,
        session_id: str,
        *,
        user_id: str = "user",
        user_name: str | None = None,
        platform: str = "langchain",
    ) -> None:
        super().__init__()
        self.session_id = session_id
        self._stored_items = KeptItems(zone, platform)
        self._user = {"sender_id": user_id, "sender_name": user_name}

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """The session's messages, oldest first."""
        return messages_from_dict(
            [item.value for item in self._stored_items.under((self.session_id,))]
        )

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Store messages in order.

        Raises:
            InvalidInput: a message cannot be stored. In that case no message is stored.
        """
        self._stored_items.add([self._item(message) for message in messages])

    def clear(self) -> None:
        """Erase the session's messages for good."""
        self._stored_items.forget_under((self.session_id,))

    def _item(self, message: BaseMessage) -> NewItem:
        is_human = message.type == "human"
        fields = {**self._user, "direction": "in"} if is_human else {"direction": "out"}
        return NewItem(
            path=(self.session_id,),
            value=message_to_dict(message),
            text=str(message.text) if is_human else strip_reasoning(str(message.text)),
            sender_id=message.type,
            fields={"session_id": self.session_id, **fields},
        )
