"""Statements of a text for tests: every clause is kept, or each has a given salience."""

from __future__ import annotations

from collections.abc import Sequence
from unittest.mock import patch

from recollect.streams.language.grammar.analysis import Analysis
from recollect.streams.language.references.person_antecedents import PrecedingMessage
from recollect.streams.language.statements import clause_salience
from recollect.streams.language.statements.document import Document
from recollect.streams.language.statements.statements import analyse


def stated(
    text: str,
    *,
    speaker: str | None = "Ada",
    addressee: str | None = None,
    at_ms: int = 0,
    before: Sequence[PrecedingMessage] = (),
    days: Sequence[int] = (),
    is_played: bool = False,
    salience: int | None = None,
) -> Analysis:
    """Return the analysis of a text that `speaker` wrote at `at_ms` (unix ms) to `addressee`.

    `salience` (percent): that of each clause; without it every clause is kept.
    """
    document = Document(
        text=text,
        speaker=speaker,
        addressee=addressee,
        at_ms=at_ms,
        before=tuple(before),
        days=tuple(days),
        keep=((0, len(text)),) if salience is None else (),
        is_played=is_played,
    )
    if salience is None:
        return analyse(document)
    with patch.object(clause_salience, "salience_of", lambda *_: salience):
        return analyse(document)
