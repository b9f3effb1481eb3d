"""LangChain's retriever and chat history over a zone (extra `langchain`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recollect import Result, Zone, needed
from recollect.integrations.kept_items import KeptItems, NewItem
from recollect.integrations.thoughts import strip_reasoning

with needed("langchain"):
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.documents import Document
    from langchain_core.messages import BaseMessage, message_to_dict, messages_from_dict
    from langchain_core.retrievers import BaseRetriever
    from pydantic import Field


class RecollectRetriever(BaseRetriever):
    """A LangChain retriever that gives what recall finds, best first, as documents.

    `k`: at most so many; it may also be given with each call. `fields` are further fields of the
    question (`entity`, `platform`, `scope`, `min_score`, `time_after`, …). A document has the text
    of a memory and its id; its metadata has the score, type, time, speaker and sources.
    """

    zone: Zone
    k: int = Field(default=4, ge=1)
    fields: dict[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        most = self.k if k is None else k
        answer = self.zone.recall(query, **{**self.fields, "max_results": most})
        return [_document(result) for result in answer.results]


def _document(result: Result) -> Document:
    about = {
        "type": result.type,
        "score": result.score,
        "as_of": result.as_of,
        "source_event_ids": result.source_event_ids,
    }
    return Document(page_content=result.text, id=result.id, metadata=about)


class RecollectChatMessageHistory(BaseChatMessageHistory):
    """The messages of one LangChain session, each an event of a zone, in the order they came.

    What a human says is remembered as said by `user_id` and concluded from; what a model or a tool
    says is kept as outgoing. `clear` erases the session for good.
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
        self._kept = KeptItems(zone, platform)
        self._user = {"sender_id": user_id, "sender_name": user_name}

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """The session's messages, the first first."""
        return messages_from_dict([item.value for item in self._kept.under((self.session_id,))])

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Keep messages, in their order.

        Raises:
            InvalidInput: one cannot be kept; then none is.
        """
        self._kept.add([self._item(message) for message in messages])

    def clear(self) -> None:
        """Erase the session's messages for good."""
        self._kept.forget_under((self.session_id,))

    def _item(self, message: BaseMessage) -> NewItem:
        human = message.type == "human"
        fields = {**self._user, "direction": "in"} if human else {"direction": "out"}
        return NewItem(
            path=(self.session_id,),
            value=message_to_dict(message),
            text=str(message.text) if human else strip_reasoning(str(message.text)),
            sender_id=message.type,
            fields={"session_id": self.session_id, **fields},
        )
