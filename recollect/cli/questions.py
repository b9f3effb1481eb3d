"""What a question takes: the options of commands that ask, and the lines of a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, get_args

import click
import msgspec

from projections.recall import PROFILES
from recollect.recalling import check_query
from schemas.errors import InvalidInput
from schemas.inbound import MAX_INTEGER, MAX_RECORD_BYTES, MIN_INTEGER
from schemas.wire import SCOPES, Budget, Query
from streams.adapters.jsonl import lines

Command = TypeVar("Command", bound=Callable[..., Any])

# A reason quotes what was asked.
_MOST_REASON = 500


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


def options(function: Command) -> Command:
    """Give a command the options of a question; `question` reads them."""
    for option in reversed(
        (
            click.option("-k", "k", type=int, default=20, show_default=True, help="Most results."),
            click.option(
                "--budget", type=click.Choice(get_args(Budget)), default="mid", show_default=True
            ),
            click.option(
                "--profile",
                type=click.Choice(list(PROFILES)),
                default="default",
                show_default=True,
                help="How answers are ranked.",
            ),
            click.option("--scope", help=f"Kinds, with commas: {', '.join(SCOPES)}."),
            click.option("--entity", help="Only what is about an entity, by name or id."),
            click.option("--after", help="Only what is later: ISO 8601 with zone, or unix ms."),
            click.option("--before", help="Only what is earlier."),
            click.option("--platform", help="Only from a platform."),
            click.option(
                "--known-at",
                metavar="T",
                help="Answer as then: a time, or the token of an ingest.",
            ),
            click.option(
                "--min-score", type=float, help="Only what scores as much; 0.5: as likely as not."
            ),
            click.option("--valid-at", metavar="T", help="Only what was true at a time."),
        )
    ):
        function = option(function)
    return function


def question(text: str, given: dict[str, Any], *, explain: bool = False) -> Query:
    """Return the question that the options of a command ask.

    Raises:
        InvalidInput: an option says what cannot be asked.
    """
    scope = given.pop("scope")
    asked = Asked(scope=scope.split(",") if scope else None, **given)
    return asked.of(text, Query(text, explain=explain))


def batch(path: Path, default: Query) -> Iterator[tuple[str | int, Query]]:
    """Yield the id and the question of each line of a file.

    Raises:
        InvalidInput: a line cannot be asked; the message says which.
    """
    decoder = msgspec.json.Decoder(Line)
    with open(path, "rb") as file:
        for number, text in enumerate(lines(file), 1):
            if not text.strip():
                continue
            try:
                if len(text) > MAX_RECORD_BYTES:
                    raise InvalidInput(f"a line may have {MAX_RECORD_BYTES} bytes")
                line = decoder.decode(text)
                if isinstance(line.id, int) and not MIN_INTEGER <= line.id <= MAX_INTEGER:
                    raise InvalidInput("id is an integer beyond 64 bits; send it as a string")
                yield line.id, line.of(line.query, default)
            except RecursionError:
                raise InvalidInput(f"{path}:{number}: nested too deeply") from None
            except (msgspec.DecodeError, UnicodeDecodeError, InvalidInput) as error:
                raise InvalidInput(f"{path}:{number}: {str(error)[:_MOST_REASON]}") from None
