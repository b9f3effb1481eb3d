"""What a writer would extract from an event, and whether two descriptions match one entity."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from recollect.schemas.wire.entries.list_entries import Fact

Writer = Literal["rules", "model"]


class Mention(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A name, date, number or similar in content[start:end].

    `entity`: canonical name of the referent, None if unknown. `confidence`: probability, 0 to 1,
    that these characters are a mention of this type; None for a pronoun. `first` and `last`: days
    of a date or time, both inclusive; `time`: its clock time (HH:MM). `pronoun`: whether it is a
    pronoun whose referent was found; a plural pronoun yields one mention for each referent.
    """

    text: str
    start: int
    end: int
    type: str
    entity: str | None
    confidence: float | None = None
    first: str | None = None
    last: str | None = None
    time: str | None = None
    pronoun: bool = False


class DateTrace(msgspec.Struct, frozen=True, kw_only=True):
    """The declared rules that read the date in content[start:end], the last applied first."""

    text: str
    start: int
    end: int
    rules: tuple[str, ...]


class CausalPair(msgspec.Struct, frozen=True, kw_only=True):
    """One fact caused another; both are indices into the event's list of facts."""

    cause: int
    effect: int
    strength: float


class EventModelUsage(msgspec.Struct, frozen=True, kw_only=True):
    """What a language model proposed for one event, and the cost.

    `role`: version of the model's prompt. `accepted`: number of proposals that became facts.
    `duplicates`: number of proposals that an existing fact already states. `rejected`: number of
    proposals that failed validation; `reasons` counts them by reason. `failed`: the provider's
    error, if it gave no answer. `cost`: in the currency of the configured prices.
    """

    model: str
    role: str
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float
    accepted: int
    duplicates: int
    rejected: int
    reasons: dict[str, int]
    failed: str | None = None


class Extraction(msgspec.Struct, frozen=True, kw_only=True):
    """What a writer would extract from the event with source id `id`.

    `model_usage`: what the model proposed; absent if the writer is `rules` or called no model.
    `trace`: which rules read each date and time; only if it was asked for.
    """

    id: str
    facts: list[Fact]
    mentions: list[Mention]
    causes: list[CausalPair]
    writer: Writer = "rules"
    model_usage: EventModelUsage | msgspec.UnsetType = msgspec.UNSET
    trace: list[DateTrace] | msgspec.UnsetType = msgspec.UNSET


class EntityDescription(msgspec.Struct, frozen=True):
    """A person or thing as described: name, type (person, company, ...), e-mail address."""

    name: str
    type: str = "person"
    email: str | None = None


class EntityPair(msgspec.Struct, frozen=True):
    """Two descriptions that may refer to one entity."""

    a: EntityDescription
    b: EntityDescription


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Entity match decision; `confidence` is the probability of a match."""

    decision: Annotated[
        Literal["same", "propose", "different"],
        Meta(description="same, propose (a person should decide) or different."),
    ]
    confidence: Annotated[float, Meta(description="Confidence, from 0 to 1.")]
    reasons: Annotated[list[str], Meta(description="Reasons for the decision.")]
