"""Mem0's `Memory` on recollect: change the import, and keep the program.

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
from recollect.integrations.mem0.mem0_store import KEEP, Mem0Store, Owner

_TOP_K = 20
_THRESHOLD = 0.1
_SETTINGS = ("home", "zone", "token", "encoder", "ledger")


class Memory:
    """Mem0's `Memory`, kept in one zone of a recollect home or service.

    `user_id`, `agent_id` and `run_id` stand in the metadata of what is added, and filters are
    applied to it before anything is ranked: a search for one user never sees, counts or ranks
    another's words. They share a zone, though, and with it the list of people and things;
    tenants who must not share even that get a zone each: `Memory(home, zone=tenant)`.

    A memory is a message as it was added. Where facts are to be inferred (`infer`, the default),
    each current fact that is decided from a message is a memory, and so is what the message says
    beside them; greetings and thanks are none. What an assistant said is kept, and no facts are
    taken from it. What is added again is the same memory. To update puts a text in the place of one
    memory: a search finds the new text, `history` has both. To delete takes one memory back: it is
    not concluded again, and what else its message says stays. `delete_all` and `reset` forget: the
    words are erased for good. Only what was added here is seen, nothing else of the zone.

    Errors are `ValueError`s that say what to do. Any thread may call any method.

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

        `encoder` and `ledger` are those of `Recollect`. A `Recollect` that is open is used as it
        is, and stays open.
        """
        self._close: Callable[[], None] | None = None
        if not isinstance(home, Recollect):
            home = Recollect(home, token=token, encoder=encoder, ledger=ledger)
            self._close = home.close
        self._store = Mem0Store(home.zone(zone), strict=False)

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Open what `config_dict["recollect"]` says: home, zone, token, encoder, ledger.

        What else a configuration of Mem0 names (models, stores) is not needed here.

        Raises:
            ValueError: there is a setting that is not known.
        """
        said = dict(config_dict.get("recollect") or {})
        wrong = sorted(set(said) - set(_SETTINGS))
        if wrong:
            raise ValueError(f"recollect: {wrong[0]!r}: choose from {', '.join(_SETTINGS)}")
        return cls(said.pop("home", "~/.recollect"), **said)

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
        """Remember messages; return `{"results": [{"id", "memory", "event": "ADD"}]}`.

        The event of a memory that was there already is NONE. Without `infer` every message is a
        memory as it stands. `timestamp`: when it was said (ISO 8601, or unix seconds).
        `expiration_date` (YYYY-MM-DD): the last day on which it is found.
        `memory_type` and `prompt` are Mem0's, for models; they change nothing.

        Raises:
            ValueError: there is no id, nothing to add, or a message cannot be kept.
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
            return {"results": self._store.added(done.id)}

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
        """Return `{"results": [...]}`, the best answers first, each with its `score`, 0 to 1.

        `filters` name at least one of user_id, agent_id and run_id; beside them any field, or any
        key of the metadata, with eq, ne, in, nin, gt, gte, lt, lte, contains, icontains, "*", and
        AND, OR, NOT. `threshold`, as Mem0's, is the least cosine of the question and what was said;
        a home without an encoder has none, and leaves nothing out. `reference_date`: the moment
        from which "yesterday" counts. `rerank` and `explain` change nothing here.

        Raises:
            ValueError: user_id or the like stands beside the filters, a filter is not known, or the
                question cannot be asked.
        """
        with _ValueErrors():
            _only_filters("search", others)
            _check_top_k(top_k)
            if not isinstance(query, str) or not query.strip():
                raise InvalidInput("query is empty; give a text")
            if threshold is not None and not (
                isinstance(threshold, int | float) and 0 <= threshold <= 1
            ):
                raise InvalidInput(f"threshold {threshold!r}: give a number from 0 to 1")
            found = self._store.search(
                query.strip(),
                _filters(filters),
                top_k=top_k,
                threshold=threshold or 0.0,
                asked_at=reference_date,
                show_expired=show_expired,
            )
        return {"results": found}

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """Return a memory; None where nothing has the id."""
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
        """Return `{"results": [...]}`: up to `top_k` memories, the newest first.

        Raises:
            ValueError: as `search`.
        """
        with _ValueErrors():
            _only_filters("get_all", others)
            _check_top_k(top_k)
            found = self._store.listed(_filters(filters), show_expired=show_expired)
        return {"results": found[:top_k]}

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: Any = KEEP,
        data: str | None = None,
    ) -> dict[str, Any]:
        """Put a text in the place of a memory's, and add to its metadata.

        `data` is Mem0's former name of `text`.

        Raises:
            ValueError: there is nothing to update, or nothing has the id.
        """
        said = data if text is None else text
        if said is None and metadata is None and expiration_date is KEEP:
            raise ValueError("At least one of text, metadata, or expiration_date must be provided.")
        with _ValueErrors():
            self._store.update(
                memory_id, text=said, metadata=metadata, expiration_date=expiration_date, wait=True
            )
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> dict[str, Any]:
        """Take a memory back; what else its message says stays, and `history` tells of it.

        Raises:
            ValueError: nothing has the id.
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
        """Forget for good what all the given ids apply to.

        Raises:
            ValueError: there is none.
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
        """Return what a memory said, the first first; an empty list where nothing has the id.

        The events are ADD, UPDATE and, last, DELETE.
        """
        with _ValueErrors():
            return self._store.history(memory_id)

    def reset(self) -> None:
        """Forget for good all that was added here; what else is in the zone stays."""
        with _ValueErrors():
            for name in IDS:
                self._store.delete_all({name: "*"})

    def close(self) -> None:
        """Close the home, where it was opened here."""
        if self._close is not None:
            self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class AsyncMemory:
    """`Memory` for asyncio: the same methods, to be awaited; each runs on a thread."""

    def __init__(
        self, home: str | PathLike[str] | Recollect = "~/.recollect", **options: Any
    ) -> None:
        """`options` are those of `Memory`."""
        self._memory = Memory(home, **options)

    @classmethod
    async def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Open what a configuration says, as `Memory.from_config`."""
        made = cls.__new__(cls)
        made._memory = await asyncio.to_thread(Memory.from_config, config_dict)
        return made

    async def add(
        self, messages: str | Mapping[str, Any] | list[Any], **options: Any
    ) -> dict[str, Any]:
        """As `Memory.add`."""
        return await asyncio.to_thread(self._memory.add, messages, **options)

    async def search(self, query: str, **options: Any) -> dict[str, Any]:
        """As `Memory.search`."""
        return await asyncio.to_thread(self._memory.search, query, **options)

    async def get(self, memory_id: str) -> dict[str, Any] | None:
        """As `Memory.get`."""
        return await asyncio.to_thread(self._memory.get, memory_id)

    async def get_all(self, **options: Any) -> dict[str, Any]:
        """As `Memory.get_all`."""
        return await asyncio.to_thread(self._memory.get_all, **options)

    async def update(
        self, memory_id: str, text: str | None = None, **options: Any
    ) -> dict[str, Any]:
        """As `Memory.update`."""
        return await asyncio.to_thread(self._memory.update, memory_id, text, **options)

    async def delete(self, memory_id: str) -> dict[str, Any]:
        """As `Memory.delete`."""
        return await asyncio.to_thread(self._memory.delete, memory_id)

    async def delete_all(
        self,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> dict[str, Any]:
        """As `Memory.delete_all`."""
        return await asyncio.to_thread(self._memory.delete_all, user_id, agent_id, run_id)

    async def history(self, memory_id: str) -> list[dict[str, Any]]:
        """As `Memory.history`."""
        return await asyncio.to_thread(self._memory.history, memory_id)

    async def reset(self) -> None:
        """As `Memory.reset`."""
        await asyncio.to_thread(self._memory.reset)

    def close(self) -> None:
        """Close the home, where it was opened here."""
        self._memory.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await asyncio.to_thread(self._memory.close)


class _ValueErrors:
    """Raises what recollect refuses as the ValueError that Mem0's users expect."""

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
