"""Evaluations of recall on questions whose sources are known."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from recollect.schemas.wire.answering import Query


class JudgedQuestion(Query, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question, and the source ids of the events that hold its answer.

    Without sources, the zone has no answer. `max_results` is set for the whole evaluation.
    """

    sources: Annotated[
        tuple[str, ...],
        Meta(
            description="Source ids of the events that hold the answer; none if nothing answers it."
        ),
    ]
    id: Annotated[
        str | int | None, Meta(description="Your own id of the question, repeated in the report.")
    ] = None


class MissedSource(msgspec.Struct, frozen=True, kw_only=True):
    """A source that recall did not return, and where recall lost it."""

    source: Annotated[str, Meta(description="Source id of the event.")]
    dropped_by: Annotated[
        str | None, Meta(description="The step at which recall dropped the event.")
    ]
    reason: Annotated[str, Meta(description="Why the step dropped it.")]


class JudgedAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """How recall answered one question."""

    id: Annotated[str | int | None, Meta(description="Your own id of the question.")]
    query: Annotated[str, Meta(description="The question.")]
    ranks: Annotated[
        dict[str, int],
        Meta(description="Rank of the first result that cites each source; missed ones left out."),
    ]
    missed: Annotated[list[MissedSource], Meta(description="The sources that no result cites.")]
    relevant: Annotated[
        float, Meta(description="Estimated probability that the zone has an answer, from 0 to 1.")
    ]


class Evaluation(msgspec.Struct, frozen=True, kw_only=True):
    """How well recall finds the sources of questions, overall and by each retrieval arm."""

    questions: Annotated[int, Meta(description="Questions with a known source in the zone.")]
    sources: Annotated[int, Meta(description="Their sources, counted for each question.")]
    max_results: Annotated[int, Meta(description="Results that each question asked for.")]
    recall_at: Annotated[
        dict[str, float],
        Meta(
            description="By number of results: the share of a question's sources that they cite, "
            "averaged over the questions."
        ),
    ]
    mean_reciprocal_rank: Annotated[
        float,
        Meta(description="Mean of 1/rank of the first result that cites a source, 0 without one."),
    ]
    arms: Annotated[
        dict[str, float],
        Meta(
            description="By retrieval arm: the share of all sources that the arm, used alone, "
            "ranks within max_results."
        ),
    ]
    unanswerable: Annotated[int, Meta(description="Questions that were given without a source.")]
    relevance_auroc: Annotated[
        float | None,
        Meta(
            description="Probability that a question with sources has a higher relevance than one "
            "without; null if either kind is missing."
        ),
    ]
    unknown_sources: Annotated[
        list[str], Meta(description="Sources that the zone does not hold; they are not counted.")
    ]
    answers: Annotated[list[JudgedAnswer], Meta(description="The questions, in the order given.")]
