"""Salience of clauses: whether they say something worth remembering."""

from __future__ import annotations

import re
from functools import cached_property

from recollect.streams.language.grammar.clauses import Span
from recollect.streams.language.statements.document import Findings
from recollect.streams.language.statements.word_salience import salience_of
from recollect.text.sentences import sentences

#: Minimum salience in percent: of the most salient sentence of a message, below which the message
#: gives no facts, and of a clause of any other message. On the development split of the corpus, one
#: in seven of the messages without facts then gives one; without a reader, one in five.
_THRESHOLDS, _THRESHOLDS_BY_WORDS = (54, 47), (58, 50)
#: The weight of the reader's judgement relative to the one by words.
_READER_WEIGHT = 3
#: The minimum probability (percent) that a sentence is the sender's own. It does not apply to the
#: only sentence of a text: without context, a quotation cannot be told from a statement.
_OWN = 25
_CORRECTION = re.compile(
    r"(?:actually\b|correction\b|(?:sorry,? |oops,? |no,? |wait,? )*(?:i meant|i mean[, ]+(?=it)|"
    r"scratch that|let me correct)|(?:no|wait|oops|sorry),? (?:wait,? )?actually\b|"
    r"edit:|\*+(?=\w))",
    re.IGNORECASE,
)


def opens_correction(text: str) -> bool:
    """Whether a text begins like a correction: "Actually", "Scratch that"."""
    return _CORRECTION.match(text) is not None


class ClauseSalience:
    """Judges the clauses of one document by their words."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._known: dict[Span, int] = {}
        self._reading = findings.document.reading

    @cached_property
    def least(self) -> int:
        """The minimum salience of a clause that is worth a fact, in percent."""
        text = self._findings.document.text
        opening, continuing = _THRESHOLDS_BY_WORDS if self._reading is None else _THRESHOLDS
        opens = any(self.of(*each) >= opening and self.is_own(each) for each in sentences(text))
        return continuing if opens else opening

    def of(self, start: int, end: int) -> int:
        """Return the salience of a span, in percent."""
        known = self._known.get((start, end))
        if known is None:
            known = self._known[start, end] = self._judged(start, end)
        return known

    def _judged(self, start: int, end: int) -> int:
        by_words = salience_of(self._findings.tokens, *self._findings.token_range(start, end))
        if self._reading is None:
            return by_words
        found = [each.salience for each in self._reading.words_in(start, end) if each.end <= end]
        mean = sum(found) // len(found) if found else 0
        return (_READER_WEIGHT * mean + by_words) // (_READER_WEIGHT + 1)

    def is_kept(self, start: int, end: int) -> bool:
        """Whether a clause is worth a fact: by its salience, or by a certain statement in it."""
        return self.is_certain(start, end) or self.of(start, end) >= self.least

    def is_certain(self, start: int, end: int) -> bool:
        """Whether a clause is kept whatever its salience."""
        findings = self._findings
        if any(first < end and start < last for first, last in findings.kept):
            return True
        return bool(findings.contacts_in(start, end)) or findings.introduces(start, end)

    def is_own(self, span: Span) -> bool:
        """Whether the sender means a sentence as their own words."""
        read = self._reading.sentence_at(span[0]) if self._reading is not None else None
        return read is None or read.own >= _OWN or self._is_only(span)

    def _is_only(self, span: Span) -> bool:
        """Whether the text has nothing but a sentence."""
        text = self._findings.text
        return not text[: span[0]].strip() and not text[span[1] :].strip()
