"""A session of OpenAI's Agents SDK over a zone (extra `openai-agents`)."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from recollect import Zone, needed
from recollect.integrations.kept_items import KeptItems, NewItem
from recollect.integrations.thoughts import strip_reasoning

with needed("openai-agents"):
    from agents.items import TResponseInputItem
    from agents.memory.session import SessionABC
    from agents.memory.session_settings import SessionSettings, resolve_session_limit


class RecollectSession(SessionABC):
    """The items of one conversation in order, each stored as an event of a zone.

    User messages are stored as incoming from `user_id`, and facts are extracted from them;
    everything else is stored as outgoing. Popped and cleared items are erased for good.
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
        self._stored_items = KeptItems(zone, platform)
        self._path = (session_id,)
        self._user = {"sender_id": user_id, "sender_name": user_name}

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the items in order; only the last `limit` if a non-negative limit is given."""
        max_items = resolve_session_limit(limit, self.session_settings)
        last = None if max_items is None or max_items < 0 else max_items
        found = await asyncio.to_thread(self._stored_items.under, self._path, last=last)
        return [cast(TResponseInputItem, item.value) for item in found]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Store items in order.

        Raises:
            InvalidInput: an item cannot be stored. In that case no item is stored.
        """
        await asyncio.to_thread(self._stored_items.add, [self._item(item) for item in items])

    async def pop_item(self) -> TResponseInputItem | None:
        """Erase the last item and return it; None if there is none."""
        return await asyncio.to_thread(self._pop)

    async def clear_session(self) -> None:
        """Erase all items of the session."""
        await asyncio.to_thread(self._stored_items.forget_under, self._path)

    def _pop(self) -> TResponseInputItem | None:
        with self._stored_items.lock:
            last = self._stored_items.newest(self._path)
            if last is None:
                return None
            self._stored_items.forget([last.source_id])
            return cast(TResponseInputItem, last.value)

    def _item(self, item: TResponseInputItem) -> NewItem:
        value = cast(dict[str, Any], item)
        role = str(value.get("role") or value.get("type") or "item")
        by_user = role == "user"
        fields = {**self._user, "direction": "in"} if by_user else {"direction": "out"}
        return NewItem(
            path=self._path,
            value=value,
            text=_text(value),
            sender_id=role,
            fields={"session_id": self.session_id, **fields},
        )


def _text(item: dict[str, Any]) -> str:
    """Return the text of an item: a message's text, a call's name and arguments, or an output.

    Reasoning items count as having no text.
    """
    if item.get("type") == "reasoning":
        return ""
    content = item.get("content")
    if isinstance(content, list):
        content = "\n".join(str(part.get("text") or "") for part in content if "text" in part)
    if isinstance(content, str):
        return content if item.get("role") == "user" else strip_reasoning(content)
    return "\n".join(str(item[name]) for name in ("name", "arguments", "output") if name in item)
