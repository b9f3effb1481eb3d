"""A tool: its name, what it takes and gives, what it may do, and the act on a zone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from mcp_types import Tool, ToolAnnotations

from recollect.home.access_tokens import RIGHTS, Right
from recollect.library.library_zone import Zone
from recollect.mcp_server.tool_schemas import (
    input_schema,
    output_schema,
    plain_answer,
    read_arguments,
)

READ: frozenset[Right] = frozenset({"read"})
WRITE: frozenset[Right] = frozenset({"write"})
FORGET: frozenset[Right] = frozenset({"forget"})

# A page of results is read by a model, whose room is small; one memory is given whole.
_SHORT_TEXT = 2_000
LONG_TEXT = 50_000


ALL_RIGHTS: frozenset[Right] = frozenset(RIGHTS)


@dataclass(frozen=True)
class Access:
    """The zone that a call acts on, what its caller may do there, and on whose behalf it is."""

    zone: Zone
    rights: frozenset[Right] = ALL_RIGHTS
    principal: Mapping[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class MemoryTool:
    """A tool of a set.

    `needs` are the rights that a caller must have. `destructive`: it can take away what is held;
    `repeatable`: the same call again changes nothing more. `most_text`: the most characters of each
    text in an answer.
    """

    name: str
    title: str
    description: str
    arguments: type[msgspec.Struct]
    answer: type[msgspec.Struct]
    run: Callable[[Access, Any], msgspec.Struct]
    needs: frozenset[Right] = READ
    destructive: bool = False
    repeatable: bool = False
    most_text: int = _SHORT_TEXT

    @property
    def reads_only(self) -> bool:
        """Whether it changes nothing."""
        return self.needs == READ

    def described(self) -> Tool:
        """Return the tool as a client is shown it."""
        return Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=input_schema(self.arguments),
            output_schema=output_schema(self.answer),
            annotations=ToolAnnotations(
                title=self.title,
                read_only_hint=self.reads_only,
                destructive_hint=self.destructive,
                idempotent_hint=self.reads_only or self.repeatable,
                # Nothing beyond this memory is asked or changed.
                open_world_hint=False,
            ),
        )

    def __call__(self, access: Access, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the tool answers, as JSON has it.

        Raises:
            InvalidInput: an argument is wrong; the message names it.
            RecollectError: it cannot be done.
        """
        asked = read_arguments(self.name, arguments, self.arguments)
        return plain_answer(self.run(access, asked), self.most_text)
