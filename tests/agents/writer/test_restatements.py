"""A model's sentence beside a fact that has the days of its dates in brackets."""

from __future__ import annotations

import pytest

from recollect.streams.agents.writer.model.restatements import compare_texts

JANUARY_2026 = 1_767_607_200_000  # 2026-01-05T10:00:00Z


@pytest.mark.parametrize("days", ["2025", "2025-01-01 to 2025-12-31"])
def test_days_in_brackets_are_no_words_of_the_speaker(days: str) -> None:
    old = f"Ada: I sailed to Corfu last year ({days}), you know"
    assert compare_texts("Ada sailed to Corfu last year.", old, "Ada", JANUARY_2026) == "better"
