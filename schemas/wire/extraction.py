"""What the writer would decide from an event, and whether two descriptions mean the same entity."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from recollect.schemas.wire.holdings import Fact

Writer = Literal["rules", "model"]


class Mention(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A name, date, number or the like; `text` stands from `start` to `end` of the content.

    `entity` is the name of who or what is meant, None if unknown. A date has the days that it
    means, `first` and `last` both inclusive. `pronoun`: the word stands for somebody ("she"); one
    that stands for several, such as "we", is one mention for each of them.
    """

    text: str
    start: int
    end: int
    type: str
    entity: str | None
    first: str | None = None
    last: str | None = None
    pronoun: bool = False


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """One fact led to another; both are positions in the event's list of facts, from 0."""

    cause: int
    effect: int
    strength: float


class ModelAnswers(msgspec.Struct, frozen=True, kw_only=True):
    """What a language model said of one event, in which role, and what that took.

    `kept` became facts, `repeated` said what a fact says already, `refused` failed a check, and
    `reasons` is how often which. `failed`: why its service did not take the question. `cost` is in
    the currency of the prices.
    """

    model: str
    role: str
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float
    kept: int
    repeated: int
    refused: int
    reasons: dict[str, int]
    failed: str | None = None


class Extraction(msgspec.Struct, frozen=True, kw_only=True):
    """What a writer would decide from the event that its source calls `id`.

    With the writer `model` a language model adds to what the rules decide; `written` is what it
    said, where it is asked about such an event.
    """

    id: str
    facts: list[Fact]
    mentions: list[Mention]
    causes: list[Cause]
    writer: Writer = "rules"
    written: ModelAnswers | msgspec.UnsetType = msgspec.UNSET


class Description(msgspec.Struct, frozen=True):
    """Somebody or something as it is described: a name, a type (person, company, ...), an email."""

    name: str
    type: str = "person"
    email: str | None = None


class Pair(msgspec.Struct, frozen=True):
    """Two descriptions that may mean the same entity."""

    a: Description
    b: Description


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Whether two entities are, or would be taken for, one."""

    decision: Annotated[
        Literal["same", "propose", "different"],
        Meta(description="same, propose (a person should decide) or different."),
    ]
    confidence: Annotated[float, Meta(description="Confidence, from 0 to 1.")]
    reasons: Annotated[list[str], Meta(description="Why.")]
