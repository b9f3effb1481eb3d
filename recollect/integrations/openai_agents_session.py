"""A session of OpenAI's Agents SDK over a zone (extra `openai-agents`)."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from recollect import Zone, needed
from recollect.integrations.kept_items import KeptItems, NewItem
from recollect.integrations.thoughts import spoken

with needed("openai-agents"):
    from agents.items import TResponseInputItem
    from agents.memory.session import SessionABC
    from agents.memory.session_settings import SessionSettings, resolve_session_limit


class RecollectSession(SessionABC):
    """The items of one conversation, each an event of a zone, in the order they came.

    What the user says is remembered as said by `user_id` and concluded from; all else is kept as
    outgoing. What is popped or cleared is erased for good.
    """

    def __init__(
        self,
        session_id: str,
        zone: Zone,
        *,
        user_id: str = "user",
        user_name: str | None = None,
        session_settings: SessionSettings | None = None,
        platform: str = "openai-agents",
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()
        self._kept = KeptItems(zone, platform)
        self._path = (session_id,)
        self._user = {"sender_id": user_id, "sender_name": user_name}

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the items in their order; the last `limit` of them, where it is 0 or more."""
        most = resolve_session_limit(limit, self.session_settings)
        last = None if most is None or most < 0 else most
        found = await asyncio.to_thread(self._kept.under, self._path, last=last)
        return [cast(TResponseInputItem, item.value) for item in found]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Keep items, in their order.

        Raises:
            InvalidInput: one cannot be kept; then none is.
        """
        await asyncio.to_thread(self._kept.add, [self._item(item) for item in items])

    async def pop_item(self) -> TResponseInputItem | None:
        """Erase the last item, and return it; None where there is none."""
        return await asyncio.to_thread(self._pop)

    async def clear_session(self) -> None:
        """Erase all items of the session."""
        await asyncio.to_thread(self._kept.forget_under, self._path)

    def _pop(self) -> TResponseInputItem | None:
        with self._kept.lock:
            last = self._kept.newest(self._path)
            if last is None:
                return None
            self._kept.forget([last.source_id])
            return cast(TResponseInputItem, last.value)

    def _item(self, item: TResponseInputItem) -> NewItem:
        said = cast(dict[str, Any], item)
        role = str(said.get("role") or said.get("type") or "item")
        by_user = role == "user"
        fields = {**self._user, "direction": "in"} if by_user else {"direction": "out"}
        return NewItem(
            path=self._path,
            value=said,
            words=_words(said),
            sender_id=role,
            fields={"session_id": self.session_id, **fields},
        )


def _words(item: dict[str, Any]) -> str:
    """Return what an item says: a message's text, a call's name and arguments, an output.

    What the model thought is no words.
    """
    if item.get("type") == "reasoning":
        return ""
    content = item.get("content")
    if isinstance(content, list):
        content = "\n".join(str(part.get("text") or "") for part in content if "text" in part)
    if isinstance(content, str):
        return content if item.get("role") == "user" else spoken(content)
    return "\n".join(str(item[name]) for name in ("name", "arguments", "output") if name in item)
