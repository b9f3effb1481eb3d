"""Queries from command-line options, and from the lines of a batch file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from recollect.cli.json_lines_reader import read_lines
from recollect.operations.answers.recalling import check_query
from recollect.schemas.errors import InvalidInput
from recollect.schemas.inbound import MAX_INTEGER, MIN_INTEGER
from recollect.schemas.wire import Budget, GraphMode, JudgedQuestion, Query


class QueryOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a query, on the command line and in a batch line."""

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
    graph_mode: GraphMode | None = None

    def to_query(self, text: str, default: Query) -> Query:
        """Return the query; options that are not given come from `default`.

        Raises:
            InvalidInput: an option has an invalid value.
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
            "graph_mode": self.graph_mode,
        }
        options = {field: value for field, value in given.items() if value is not None}
        query = msgspec.structs.replace(default, query=text, **options)
        check_query(query)
        return query


class BatchQuery(QueryOptions, frozen=True, kw_only=True):
    """One line of a batch file."""

    id: str | int
    query: str


class JudgedLine(QueryOptions, frozen=True, kw_only=True):
    """One line of an evaluation file: a question, and the sources that its answer should cite."""

    id: str | int | None = None
    query: str
    sources: tuple[str, ...]


def query_from_options(text: str, given: dict[str, Any], *, explain: bool = False) -> Query:
    """Return the query for the options of a command.

    Raises:
        InvalidInput: an option has an invalid value.
    """
    scope = given.pop("scope")
    options = QueryOptions(scope=scope.split(",") if scope else None, **given)
    return options.to_query(text, Query(text, explain=explain))


def read_batch(path: Path, default: Query) -> Iterator[tuple[str | int, Query]]:
    """Yield the id and the query of each line of a file; `-` is standard input.

    Raises:
        InvalidInput: a line is not a valid query; the message names the line.
    """

    def parse(line: BatchQuery) -> tuple[str | int, Query]:
        if isinstance(line.id, int) and not MIN_INTEGER <= line.id <= MAX_INTEGER:
            raise InvalidInput("id is an integer beyond 64 bits; send it as a string")
        return line.id, line.to_query(line.query, default)

    return read_lines(path, BatchQuery, parse)


def read_judged_questions(path: Path) -> list[JudgedQuestion]:
    """Return the questions of a file, each with its known sources; `-` is standard input.

    Raises:
        InvalidInput: a line is not such a question; the message names the line.
    """

    def parse(line: JudgedLine) -> JudgedQuestion:
        query = line.to_query(line.query, Query(line.query))
        return JudgedQuestion(**msgspec.structs.asdict(query), sources=line.sources, id=line.id)

    return list(read_lines(path, JudgedLine, parse))
