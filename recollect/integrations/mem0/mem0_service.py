"""Mem0's memories in a service: the calls of `Mem0Store` over the routes of its facade."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from recollect.integrations.mem0.mem0_filters import IDS
from recollect.integrations.mem0.mem0_store import KEEP, Addition, Owner
from recollect.library.library_home import TIMEOUT
from recollect.remote.service_client import ServiceClient
from recollect.schemas.errors import UnknownId

_PAGE = 1_000


class Mem0Service:
    """A zone of a service, by its address."""

    def __init__(self, url: str, token: str | None, zone: str) -> None:
        self._client = ServiceClient(url, token, TIMEOUT)
        self._zone = zone

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def publish(
        self,
        messages: Any,
        owner: Owner,
        *,
        metadata: Mapping[str, Any] | None = None,
        infer: bool = True,
        at: Any = None,
        expiration_date: Any = None,
        wait: bool = True,
    ) -> Addition:
        """Add messages; the service waits until what follows from them is decided."""
        if isinstance(messages, str | Mapping):
            messages = [
                {"role": "user", "content": messages} if isinstance(messages, str) else messages
            ]
        body = {
            "messages": messages,
            **owner.filters,
            "metadata": metadata,
            "infer": infer,
            "timestamp": at,
            "expiration_date": None if expiration_date is None else str(expiration_date),
        }
        done = self._change("POST", "/v3/memories/add/", body)
        return Addition(done["event_id"], "")

    def added(self, batch: str) -> list[dict[str, Any]]:
        """Return the memories that came of an addition."""
        found: list[dict[str, Any]] = self._get(f"/v1/event/{quote(batch, safe='')}/")["results"]
        return found

    def update(
        self,
        memory_id: str,
        *,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: Any = KEEP,
        wait: bool = True,
    ) -> None:
        """Update a memory."""
        body: dict[str, Any] = {"text": text, "metadata": metadata}
        if expiration_date is not KEEP:
            body["expiration_date"] = None if expiration_date is None else str(expiration_date)
        self._change("PUT", _place(memory_id), body)

    def delete(self, memory_id: str) -> None:
        """Forget a memory."""
        self._change("DELETE", _place(memory_id))

    def delete_all(self, filters: Mapping[str, Any]) -> None:
        """Forget what ids apply to."""
        assert set(filters) <= set(IDS)
        said = "&".join(f"{name}={quote(str(value), safe='')}" for name, value in filters.items())
        self._change("DELETE", f"/v1/memories/?{said}")

    def search(
        self,
        query: str,
        filters: Mapping[str, Any],
        *,
        top_k: int,
        threshold: float,
        asked_at: Any,
        show_expired: bool,
    ) -> list[dict[str, Any]]:
        """Return the best answers first."""
        body = {
            "query": query,
            "filters": filters,
            "top_k": top_k,
            "threshold": threshold,
            "reference_date": asked_at,
            "show_expired": show_expired,
        }
        found: list[dict[str, Any]] = self._ask("/v3/memories/search/", body)["results"]
        return found

    def listed(self, filters: Mapping[str, Any], *, show_expired: bool) -> list[dict[str, Any]]:
        """Return memories, the newest first, as many as a page has."""
        body = {"filters": filters, "show_expired": show_expired}
        found: list[dict[str, Any]] = self._ask(f"/v3/memories/?page_size={_PAGE}", body)["results"]
        return found

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """Return a memory; None where nothing has the id."""
        try:
            return self._get(_place(memory_id))
        except UnknownId:
            return None

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Return what a memory said, the first first."""
        found: list[dict[str, Any]] = self._client.get(
            f"{_place(memory_id)}history/", list[dict[str, Any]], zone=self._zone
        )
        return found

    def _get(self, path: str) -> dict[str, Any]:
        return self._client.get(path, dict[str, Any], zone=self._zone)

    def _ask(self, path: str, body: object) -> dict[str, Any]:
        return self._client.ask(self._placed(path), dict[str, Any], body)

    def _change(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        return self._client.change(method, self._placed(path), dict[str, Any], body)

    def _placed(self, path: str) -> str:
        return f"{path}{'&' if '?' in path else '?'}zone={quote(self._zone, safe='')}"


def _place(memory_id: str) -> str:
    return f"/v1/memories/{quote(memory_id, safe='')}/"
