"""Cost estimates for running the model writer over events."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from recollect.streams.models.chat import ChatRequest, estimated_tokens
from recollect.streams.models.model_settings import ModelSettings

#: Calls per event and tokens per answer, if there is no history to take them from.
DEFAULT_CALLS, DEFAULT_TOKENS_OUT = 4, 200
_MIN_CALLS, _MIN_TOKENS_OUT = 1, 10


class CostEstimate(NamedTuple):
    """Calls, tokens and cost: a lower bound of each, and an approximate upper bound."""

    min_calls: int
    calls: int
    min_tokens: int
    tokens: int
    min_cost: float
    cost: float


def estimate_cost(
    requests: Iterable[ChatRequest],
    model: str,
    settings: ModelSettings,
    *,
    calls: float = DEFAULT_CALLS,
    tokens_out: float = DEFAULT_TOKENS_OUT,
) -> CostEstimate:
    """Estimate the cost of running the model writer over events, given the first request for each.

    `calls`: past calls per event; `tokens_out`: past tokens per answer.
    """
    rounds = min(max(round(calls * 1.5), 1), settings.rounds)
    first = [
        estimated_tokens(len(request.body(model, settings.answer_tokens))) for request in requests
    ]
    min_calls, max_calls = len(first) * _MIN_CALLS, len(first) * rounds
    # Each further request repeats the previous request and its answer.
    repeated = sum(round(turn * 2 * tokens_out) for turn in range(rounds))
    min_in, max_in = sum(first), sum(tokens_in * rounds + repeated for tokens_in in first)
    min_out, max_out = min_calls * _MIN_TOKENS_OUT, round(max_calls * tokens_out * 1.5)
    return CostEstimate(
        min_calls,
        max_calls,
        min_in + min_out,
        max_in + max_out,
        settings.cost(min_in, min_out),
        settings.cost(max_in, max_out),
    )
