"""Years in a block, where they are the same as before."""

from __future__ import annotations

import pytest

from recollect.projections.recall.context.repeated_years import without_repeated_years


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["a (7 May 2023)", "b (said 8 Jun 2023)"], ["a (7 May 2023)", "b (said 8 Jun)"]),
        (["a (Jan 2022)", "b (Jan 2023)"], ["a (Jan 2022)", "b (Jan 2023)"]),
        (["a (2 May 2023) b (26 Jun to 2 Jul 2023)"], ["a (2 May 2023) b (26 Jun to 2 Jul)"]),
        (["a (3 to 4 May 2023)", "b (5 to 6 May 2023)"], ["a (3 to 4 May 2023)", "b (5 to 6 May)"]),
        # A year alone is never left out, and the next day has its year if it is another.
        (["a (2 May 2023)", "b (2023)", "c (2022)", "d (3 May 2023)"],
         ["a (2 May 2023)", "b (2023)", "c (2022)", "d (3 May 2023)"]),
        # Days of two years have both.
        (["a (2 May 2023)", "b (30 Dec 2023 to 2 Jan 2024)", "c (3 Jan 2024)"],
         ["a (2 May 2023)", "b (30 Dec 2023 to 2 Jan 2024)", "c (3 Jan 2024)"]),
        # After another year in brackets, a day is not read as one of that year.
        (["a (2 May 2023)", "b (30 Dec 2023 to 2 Jan 2024)", "c (3 Jan 2023)"],
         ["a (2 May 2023)", "b (30 Dec 2023 to 2 Jan 2024)", "c (3 Jan 2023)"]),
        (["a (2 May 2023)", "(no longer so since 3 Jan 2024) b (4 May 2023)"],
         ["a (2 May 2023)", "(no longer so since 3 Jan 2024) b (4 May 2023)"]),
        # What is no day stays as it is.
        (["a (7 May 2023)", "b (the class of 2023)", "c (room 2023)"],
         ["a (7 May 2023)", "b (the class of 2023)", "c (room 2023)"]),
    ],
)  # fmt: skip
def test_a_year_stands_only_where_it_changes(texts: list[str], expected: list[str]) -> None:
    assert without_repeated_years(texts) == expected
