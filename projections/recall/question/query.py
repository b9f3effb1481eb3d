"""What is asked of recall."""

from __future__ import annotations

from typing import get_args

import msgspec

from recollect.schemas.errors import InvalidInput
from recollect.schemas.times import LATEST_MS
from recollect.schemas.wire import DEFAULT_SCOPE, SCOPES, Budget, Scope

MAX_RESULTS = 1_000
#: The most characters of a question, and of a name that it asks for.
MAX_QUERY_LENGTH = 10_000
MAX_NAME_LENGTH = 1_024


def check_query_time(time: int | None, field: str) -> None:
    """Raise InvalidInput where a time (unix ms) is as far from 1970 as 2200, or further."""
    if time is not None and abs(time) > LATEST_MS:
        raise InvalidInput(f"{field}: {time:.3g} ms is no time up to 2200; give unix milliseconds")


class RecallQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A question. Times are unix ms; `entity` is a name or an id.

    `time_after` and `time_before` are exclusive bounds on `as_of`. `valid_at`: only what was
    true then, said by then and not yet superseded (C13). `asked_at`: the moment from which times in
    words, and the fading of memories, are counted; None: that of the zone's last turn.
    `spans`: the times that the question is about, (first, last): turns of then are preferred, and
    none are excluded (B4); None given: those in its words. `min_score`: what scores less is not
    answered. `among`: the running numbers of the turns that may be answered, None for all.
    """

    text: str
    scope: tuple[Scope, ...] = DEFAULT_SCOPE
    entity: str | None = None
    time_after: int | None = None
    time_before: int | None = None
    valid_at: int | None = None
    platform: str | None = None
    max_results: int = 20
    budget: Budget = "mid"
    asked_at: int | None = None
    min_score: float = 0.0
    explain: bool = False
    spans: tuple[tuple[int, int], ...] = ()
    among: frozenset[int] | None = None

    def check(self) -> None:
        """Raise InvalidInput where the question cannot be asked."""
        if not 1 <= self.max_results <= MAX_RESULTS:
            raise InvalidInput(f"max_results {self.max_results}: ask for 1 to {MAX_RESULTS}")
        if not 0 <= self.min_score <= 1:
            raise InvalidInput(f"min_score {self.min_score}: give 0 to 1")
        if len(self.text) > MAX_QUERY_LENGTH:
            raise InvalidInput(
                f"the query has {len(self.text)} characters; it may have {MAX_QUERY_LENGTH}"
            )
        for field, name in (("entity", self.entity), ("platform", self.platform)):
            if name is not None and len(name) > MAX_NAME_LENGTH:
                raise InvalidInput(
                    f"{field} has {len(name)} characters; it may have {MAX_NAME_LENGTH}"
                )
        for field in ("time_after", "time_before", "valid_at", "asked_at"):
            check_query_time(getattr(self, field), field)
        for first, last in self.spans:
            check_query_time(first, "spans")
            check_query_time(last, "spans")
        if not self.scope:
            raise InvalidInput(f"scope is empty; choose from {', '.join(SCOPES)}")
        for name in self.scope:
            if name not in SCOPES:
                raise InvalidInput(f"scope {name!r}: choose from {', '.join(SCOPES)}")
        if self.budget not in get_args(Budget):
            raise InvalidInput(f"budget {self.budget!r}: choose from {', '.join(get_args(Budget))}")

    @property
    def filtered(self) -> bool:
        """Whether not everything may be answered."""
        filters = (
            *(self.entity, self.platform, self.among),
            *(self.time_after, self.time_before, self.valid_at),
        )
        return any(value is not None for value in filters)

    @property
    def until(self) -> int:
        """The last moment of changes that count: `valid_at`, else the latest there is."""
        return LATEST_MS if self.valid_at is None else self.valid_at

    def readable(self) -> RecallQuery:
        """Return the question with text that every part can read."""
        return msgspec.structs.replace(
            self,
            text=readable(self.text),
            entity=None if self.entity is None else readable(self.entity),
            platform=None if self.platform is None else readable(self.platform),
        )


def readable(text: str) -> str:
    """Return a text that can be encoded: without lone surrogates (as "?") and NUL (as a space)."""
    return text.encode("utf-8", "replace").decode().replace("\0", " ")
