"""Questions as they are asked on the command line, and in the lines of a batch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from recollect.cli.json_lines_reader import read_lines
from recollect.operations.answers.recalling import check_query
from recollect.schemas.errors import InvalidInput
from recollect.schemas.inbound import MAX_INTEGER, MIN_INTEGER
from recollect.schemas.wire import Budget, Query


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a question, in a batch's line as on the command line."""

    scope: list[str] | None = None
    entity: str | None = None
    after: str | int | None = None
    before: str | int | None = None
    platform: str | None = None
    known_at: str | int | None = None
    valid_at: str | int | None = None
    k: int | None = None
    min_score: float | None = None
    budget: Budget | None = None
    profile: str | None = None

    def of(self, text: str, default: Query) -> Query:
        """Return the question, with the default's options where this has none.

        Raises:
            InvalidInput: an option says what cannot be asked.
        """
        given: dict[str, Any] = {
            "scope": self.scope and tuple(name.strip() for name in self.scope if name.strip()),
            "entity": self.entity,
            "time_after": self.after,
            "time_before": self.before,
            "known_at": self.known_at,
            "valid_at": self.valid_at,
            "platform": self.platform,
            "max_results": self.k,
            "min_score": self.min_score,
            "budget": self.budget,
            "profile": self.profile,
        }
        said = {field: value for field, value in given.items() if value is not None}
        query = msgspec.structs.replace(default, query=text, **said)
        check_query(query)
        return query


class Line(Asked, frozen=True, kw_only=True):
    """A line of a batch."""

    id: str | int
    query: str


def question(text: str, given: dict[str, Any], *, explain: bool = False) -> Query:
    """Return the question that the options of a command ask.

    Raises:
        InvalidInput: an option says what cannot be asked.
    """
    scope = given.pop("scope")
    asked = Asked(scope=scope.split(",") if scope else None, **given)
    return asked.of(text, Query(text, explain=explain))


def batch(path: Path, default: Query) -> Iterator[tuple[str | int, Query]]:
    """Yield the id and the question of each line of a file; `-` is standard input.

    Raises:
        InvalidInput: a line cannot be asked; the message says which.
    """

    def asked(line: Line) -> tuple[str | int, Query]:
        if isinstance(line.id, int) and not MIN_INTEGER <= line.id <= MAX_INTEGER:
            raise InvalidInput("id is an integer beyond 64 bits; send it as a string")
        return line.id, line.of(line.query, default)

    return read_lines(path, Line, asked)
