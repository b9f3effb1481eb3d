"""Mem0's `Memory` on recollect: a program only has to change the import.

>>> from recollect.compat.mem0 import Memory
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, Self

from recollect import DEFAULT_ZONE, InvalidInput, Recollect, UnknownId
from recollect.integrations.mem0.mem0_filters import (
    ANY_FIELD,
    IDS,
    check_entity,
    check_filters,
)
from recollect.integrations.mem0.mem0_store import UNCHANGED, Mem0Store, Owner

_TOP_K = 20
_THRESHOLD = 0.1
_SETTINGS = ("home", "zone", "token", "encoder", "ledger")


class Memory:
    """Mem0's `Memory`, stored in one zone of a recollect home or service.

    `user_id`, `agent_id` and `run_id` are stored in the metadata of a memory. Filters are applied
    before ranking: a search for one user never sees, counts or ranks another user's memories.
    All users share the zone's entities, though. Tenants that must not share them need a zone each:
    `Memory(home, zone=tenant)`.

    With `infer` (the default), each current fact of a message is a memory, and the remaining
    sentences, except greetings and thanks, form one further memory. Without `infer`, the message is
    one memory. Messages of assistants are stored, but no facts are extracted from them. A memory
    that is added again stays one memory. `update` replaces the text of one memory: search finds the
    new text, and `history` has both. `delete` retracts one memory: it is not derived again, and the
    rest of its message stays. `delete_all` and `reset` erase the messages for good. Only memories
    that were added through Mem0's interfaces are visible, and nothing else in the zone.

    Errors are `ValueError`s that say what to do. Methods may be called from any thread.

    >>> memory = Memory(home, encoder="none")
    >>> added = memory.add("I live in Turin.", user_id="ada")
    >>> added["results"][0]["memory"]
    'Ada lives in Turin.'
    >>> memory.search("Where does Ada live?", filters={"user_id": "bob"})
    {'results': []}
    >>> memory.close()
    """

    def __init__(
        self,
        home: str | PathLike[str] | Recollect = "~/.recollect",
        *,
        zone: str = DEFAULT_ZONE,
        token: str | None = None,
        encoder: str | None = None,
        ledger: str | None = None,
    ) -> None:
        """Open a home by its directory, or a service by its address and `token`.

        `encoder` and `ledger`: see `Recollect`. If `home` is an open `Recollect`, `close` leaves it
        open.
        """
        self._close: Callable[[], None] | None = None
        if not isinstance(home, Recollect):
            home = Recollect(home, token=token, encoder=encoder, ledger=ledger)
            self._close = home.close
        self._store = Mem0Store(home.zone(zone), strict=False)

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Open a memory with the settings in `config_dict["recollect"]`.

        The settings are home, zone, token, encoder and ledger. The rest of a Mem0 configuration
        (models, stores) is ignored.

        Raises:
            ValueError: a setting is unknown.
        """
        settings = dict(config_dict.get("recollect") or {})
        wrong = sorted(set(settings) - set(_SETTINGS))
        if wrong:
            raise ValueError(f"recollect: {wrong[0]!r}: choose from {', '.join(_SETTINGS)}")
        return cls(settings.pop("home", "~/.recollect"), **settings)

    def add(
        self,
        messages: str | Mapping[str, Any] | list[Any],
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        timestamp: Any = None,
        expiration_date: Any = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> dict[str, Any]:
        """Store messages; return `{"results": [{"id", "memory", "event": "ADD"}]}`.

        A memory that existed before has the event NONE. Without `infer` every message is one
        memory. `timestamp`: the time of the messages (ISO 8601, or unix seconds).
        `expiration_date` (YYYY-MM-DD): the last day on which the memories are found.
        `memory_type` and `prompt` are for Mem0's models, and have no effect.

        Raises:
            ValueError: no id is given, there is nothing to add, or a message was rejected.
        """
        with _ValueErrors():
            owner = Owner.of({"user_id": user_id, "agent_id": agent_id, "run_id": run_id})
            done = self._store.publish(
                messages,
                owner,
                metadata=metadata,
                infer=infer,
                at=timestamp,
                expiration_date=expiration_date,
                wait=True,
            )
            return {"results": self._store.added(done.id).memories}

    def search(
        self,
        query: str,
        *,
        top_k: int = _TOP_K,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = _THRESHOLD,
        rerank: bool = False,
        explain: bool = False,
        reference_date: Any = None,
        show_expired: bool = False,
        **others: Any,
    ) -> dict[str, Any]:
        """Return `{"results": [...]}`, best first, each with its `score`, 0 to 1.

        `filters` must name at least one of user_id, agent_id and run_id. They may also name any
        other field or metadata key, with eq, ne, in, nin, gt, gte, lt, lte, contains, icontains,
        "*", and AND, OR, NOT. `threshold`: the minimum cosine between query and memory, as in Mem0;
        it has no effect without an encoder. `reference_date`: the time to which "yesterday"
        relates. `rerank` and `explain` have no effect.

        Raises:
            ValueError: an id is given outside of the filters, a filter is malformed or names an
                unknown field, or the query is invalid.
        """
        with _ValueErrors():
            _only_filters("search", others)
            _check_top_k(top_k)
            if not isinstance(query, str) or not query.strip():
                raise InvalidInput("query is empty; give a question")
            if threshold is not None and not (
                isinstance(threshold, int | float) and 0 <= threshold <= 1
            ):
                raise InvalidInput(f"threshold {threshold!r}: give a number from 0 to 1")
            memories = self._store.search(
                query.strip(),
                _filters(filters),
                top_k=top_k,
                threshold=threshold or 0.0,
                asked_at=reference_date,
                show_expired=show_expired,
            )
        return {"results": memories}

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """Return the memory with an id, or None."""
        with _ValueErrors():
            return self._store.get(memory_id)

    def get_all(
        self,
        *,
        filters: Mapping[str, Any] | None = None,
        top_k: int = _TOP_K,
        show_expired: bool = False,
        **others: Any,
    ) -> dict[str, Any]:
        """Return `{"results": [...]}`: up to `top_k` memories, newest first.

        Raises:
            ValueError: see `search`.
        """
        with _ValueErrors():
            _only_filters("get_all", others)
            _check_top_k(top_k)
            memories = self._store.list_memories(_filters(filters), show_expired=show_expired)
        return {"results": memories[:top_k]}

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: Any = UNCHANGED,
        data: str | None = None,
    ) -> dict[str, Any]:
        """Replace the text of a memory, and add to its metadata.

        `data` is Mem0's former name of `text`.

        Raises:
            ValueError: there is nothing to update, or no memory has the id.
        """
        new_text = data if text is None else text
        if new_text is None and metadata is None and expiration_date is UNCHANGED:
            raise ValueError("At least one of text, metadata, or expiration_date must be provided.")
        with _ValueErrors():
            self._store.update(
                memory_id,
                text=new_text,
                metadata=metadata,
                expiration_date=expiration_date,
                wait=True,
            )
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> dict[str, Any]:
        """Retract a memory. The rest of its message stays, and `history` shows the deletion.

        Raises:
            ValueError: no memory has the id.
        """
        with _ValueErrors():
            try:
                self._store.delete(memory_id)
            except UnknownId:
                raise InvalidInput(f"Memory with id {memory_id} not found") from None
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> dict[str, Any]:
        """Erase the memories that have all the given ids, for good.

        Raises:
            ValueError: no id is given.
        """
        given = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
        if all(value is None for value in given.values()):
            raise ValueError(
                "At least one filter is required to delete all memories. If you want to delete "
                "all memories, use the `reset()` method."
            )
        with _ValueErrors():
            self._store.delete_all(Owner.of(given).filters)
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Return the versions of a memory, oldest first; [] if no memory has the id.

        Their events are ADD, then UPDATE, and last DELETE if the memory was deleted.
        """
        with _ValueErrors():
            return self._store.history(memory_id)

    def reset(self) -> None:
        """Erase everything that was added through Mem0's interfaces, for good; the rest stays."""
        with _ValueErrors():
            for name in IDS:
                self._store.delete_all({name: "*"})

    def close(self) -> None:
        """Close the home; a `Recollect` that was passed in stays open."""
        if self._close is not None:
            self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class AsyncMemory:
    """`Memory` for asyncio: the same methods, to be awaited; each runs in a thread."""

    def __init__(
        self, home: str | PathLike[str] | Recollect = "~/.recollect", **options: Any
    ) -> None:
        """`options`: the parameters of `Memory`."""
        self._memory = Memory(home, **options)

    @classmethod
    async def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """See `Memory.from_config`."""
        made = cls.__new__(cls)
        made._memory = await asyncio.to_thread(Memory.from_config, config_dict)
        return made

    async def add(
        self, messages: str | Mapping[str, Any] | list[Any], **options: Any
    ) -> dict[str, Any]:
        """See `Memory.add`."""
        return await asyncio.to_thread(self._memory.add, messages, **options)

    async def search(self, query: str, **options: Any) -> dict[str, Any]:
        """See `Memory.search`."""
        return await asyncio.to_thread(self._memory.search, query, **options)

    async def get(self, memory_id: str) -> dict[str, Any] | None:
        """See `Memory.get`."""
        return await asyncio.to_thread(self._memory.get, memory_id)

    async def get_all(self, **options: Any) -> dict[str, Any]:
        """See `Memory.get_all`."""
        return await asyncio.to_thread(self._memory.get_all, **options)

    async def update(
        self, memory_id: str, text: str | None = None, **options: Any
    ) -> dict[str, Any]:
        """See `Memory.update`."""
        return await asyncio.to_thread(self._memory.update, memory_id, text, **options)

    async def delete(self, memory_id: str) -> dict[str, Any]:
        """See `Memory.delete`."""
        return await asyncio.to_thread(self._memory.delete, memory_id)

    async def delete_all(
        self,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> dict[str, Any]:
        """See `Memory.delete_all`."""
        return await asyncio.to_thread(self._memory.delete_all, user_id, agent_id, run_id)

    async def history(self, memory_id: str) -> list[dict[str, Any]]:
        """See `Memory.history`."""
        return await asyncio.to_thread(self._memory.history, memory_id)

    async def reset(self) -> None:
        """See `Memory.reset`."""
        await asyncio.to_thread(self._memory.reset)

    def close(self) -> None:
        """Close the home; a `Recollect` that was passed in stays open."""
        self._memory.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await asyncio.to_thread(self._memory.close)


class _ValueErrors:
    """Converts `InvalidInput` to the `ValueError` that Mem0's users expect."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, InvalidInput):
            raise ValueError(str(error)) from error


def _only_filters(method: str, others: Mapping[str, Any]) -> None:
    for name in others:
        if name in IDS:
            raise InvalidInput(
                f"Top-level entity parameters {{{name!r}}} are not supported in {method}(). "
                f"Use filters={{{name!r}: '...'}} instead."
            )
    for name in others:
        raise TypeError(f"{method}() got an unexpected keyword argument {name!r}")


def _filters(filters: Mapping[str, Any] | None) -> dict[str, Any]:
    given = dict(filters or {})
    check_filters(given, known=ANY_FIELD)
    ids = [name for name in ("user_id", "agent_id", "run_id") if name in given]
    if not ids:
        raise InvalidInput(
            "filters must contain at least one of: user_id, agent_id, run_id. "
            "Example: filters={'user_id': 'u1'}"
        )
    for name in ids:
        if not isinstance(given[name], Mapping):
            given[name] = check_entity(given[name], name)
    return given


def _check_top_k(top_k: Any) -> None:
    if isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 0:
        raise InvalidInput(f"top_k {top_k!r}: give a whole number, 0 or more")
