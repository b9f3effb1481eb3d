"""What asking a model takes, said before it is asked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from recollect.streams.models.chat import ChatQuestion, estimated_tokens
from recollect.streams.models.model_settings import ModelSettings

#: How often a model is asked for an event, and what one answer takes, where nothing is known yet.
USUAL_CALLS, USUAL_TOKENS_OUT = 4, 200
_MIN_CALLS, _MIN_TOKENS_OUT = 1, 10


class Price(NamedTuple):
    """Calls, tokens and cost: at least, and about at most."""

    min_calls: int
    calls: int
    min_tokens: int
    tokens: int
    min_cost: float
    cost: float


def price(
    questions: Iterable[ChatQuestion],
    model: str,
    settings: ModelSettings,
    *,
    calls: float = USUAL_CALLS,
    tokens_out: float = USUAL_TOKENS_OUT,
) -> Price:
    """Return what writing about events takes, from the first question about each.

    `calls` is how often a model was asked for one, and `tokens_out` what one answer took.
    """
    rounds = min(max(round(calls * 1.5), 1), settings.rounds)
    first = [
        estimated_tokens(len(question.body(model, settings.answer_tokens)))
        for question in questions
    ]
    min_calls, max_calls = len(first) * _MIN_CALLS, len(first) * rounds
    # Each further question repeats the one before with what was answered.
    more = sum(round(turn * 2 * tokens_out) for turn in range(rounds))
    min_in, max_in = sum(first), sum(asked * rounds + more for asked in first)
    min_out, max_out = min_calls * _MIN_TOKENS_OUT, round(max_calls * tokens_out * 1.5)
    return Price(
        min_calls,
        max_calls,
        min_in + min_out,
        max_in + max_out,
        settings.cost(min_in, min_out),
        settings.cost(max_in, max_out),
    )
