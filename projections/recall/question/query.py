"""A query to recall, and its checks."""

from __future__ import annotations

from typing import get_args

import msgspec

from recollect.schemas.errors import InvalidInput
from recollect.schemas.text_sanitising import replace_lone_surrogates
from recollect.schemas.times import LATEST_MS, check_time_order
from recollect.schemas.wire import DEFAULT_SCOPE, SCOPES, Budget, GraphMode, Scope

MAX_RESULTS = 1_000
#: The maximum length of a query, and of a name to filter by, in characters.
MAX_QUERY_LENGTH = 10_000
MAX_NAME_LENGTH = 1_024


def check_query_time(time: int | None, field: str) -> None:
    """Raise InvalidInput if a time (unix ms) is after the year 2200 or before 1740."""
    if time is not None and abs(time) > LATEST_MS:
        raise InvalidInput(
            f"{field}: {time:.3g} ms is outside the years 1740 to 2200; give unix milliseconds"
        )


class RecallQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A query. Times are unix ms; `entity` is a name or an id.

    `time_after` and `time_before` are exclusive bounds on `as_of`. `valid_at`: only what was true
    then, stated by then and not yet superseded. `present`: without `valid_at`, what is superseded
    only later still holds; it is at least the time of the zone's last turn and `asked_at`; None for
    the latest possible time. `asked_at`: the time from which relative times and
    the decay of scores are measured; None means the time of the zone's last turn. `spans`: times,
    as (first, last), whose turns are preferred, though others are not excluded; if empty, the times
    in the text. `min_score`: results with a lower score are dropped. `allowed_numbers`: the event
    numbers of the turns that may be results; None for all. `graph_mode`: whether relationships are
    followed from the entities of the question (`low`), from its themes (`high`), or both.
    """

    text: str
    scope: tuple[Scope, ...] = DEFAULT_SCOPE
    entity: str | None = None
    time_after: int | None = None
    time_before: int | None = None
    valid_at: int | None = None
    present: int | None = None
    platform: str | None = None
    max_results: int = 20
    budget: Budget = "mid"
    asked_at: int | None = None
    min_score: float = 0.0
    explain: bool = False
    spans: tuple[tuple[int, int], ...] = ()
    allowed_numbers: frozenset[int] | None = None
    graph_mode: GraphMode = "none"

    def check(self) -> None:
        """Raise InvalidInput if a field is invalid."""
        if not 1 <= self.max_results <= MAX_RESULTS:
            raise InvalidInput(f"max_results {self.max_results}: give 1 to {MAX_RESULTS}")
        if not 0 <= self.min_score <= 1:
            raise InvalidInput(f"min_score {self.min_score}: give 0 to 1")
        if len(self.text) > MAX_QUERY_LENGTH:
            raise InvalidInput(
                f"the query has {len(self.text)} characters; the maximum is {MAX_QUERY_LENGTH}"
            )
        for field, name in (("entity", self.entity), ("platform", self.platform)):
            if name is not None and len(name) > MAX_NAME_LENGTH:
                raise InvalidInput(
                    f"{field} has {len(name)} characters; the maximum is {MAX_NAME_LENGTH}"
                )
        for field in ("time_after", "time_before", "valid_at", "present", "asked_at"):
            check_query_time(getattr(self, field), field)
        check_time_order(self.time_after, self.time_before)
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
        if self.graph_mode not in get_args(GraphMode):
            modes = ", ".join(get_args(GraphMode))
            raise InvalidInput(f"graph_mode {self.graph_mode!r}: choose from {modes}")

    @property
    def has_filters(self) -> bool:
        """Whether any filter is set."""
        filters = (
            *(self.entity, self.platform, self.allowed_numbers),
            *(self.time_after, self.time_before, self.valid_at),
        )
        return any(value is not None for value in filters)

    @property
    def until(self) -> int:
        """The time up to which supersessions count: `valid_at`, `present`, or the latest."""
        if self.valid_at is not None:
            return self.valid_at
        return LATEST_MS if self.present is None else self.present

    def encodable(self) -> RecallQuery:
        """Return the query with texts that can be encoded as UTF-8."""
        return msgspec.structs.replace(
            self,
            text=encodable(self.text),
            entity=None if self.entity is None else encodable(self.entity),
            platform=None if self.platform is None else encodable(self.platform),
        )


def encodable(text: str) -> str:
    """Replace lone surrogates by U+FFFD and NUL by a space, so that a text can be encoded."""
    return replace_lone_surrogates(text).replace("\0", " ")
