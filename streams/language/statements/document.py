"""A message to analyse, and the findings in it, with their positions."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import takewhile
from operator import attrgetter

from msgspec import Struct

from recollect.streams.language.grammar.analysis import Contact, Introduction, Mention
from recollect.streams.language.grammar.clauses import Span
from recollect.streams.language.grammar.text_reading import ReadWord, TextReading
from recollect.streams.language.references.person_antecedents import PrecedingMessage
from recollect.text.dates.found_dates import DateReference, Found, as_reference
from recollect.text.dates.resolved_dates import in_numbers, with_days
from recollect.text.tokenizer import Tokens

_CODE = re.compile(r"\(\);|==|=>|</|::|&&")
#: What follows an interjection, up to the next word.
_MARKS = re.compile(r"[\s,.!…:;~–—-]*")
#: How many words of a rendering may differ from its span in one place.
_AHEAD = 6
#: The minimum number of words after interjections that are left out.
_FEWEST_WORDS = 3
_start = attrgetter("start")
_AFTER_PREPOSITION = re.compile(r"\b(?:in|from|to|near|at|around|for|the)\s\Z", re.IGNORECASE)


class Document(Struct, frozen=True, kw_only=True):
    """A message and its context.

    Attributes:
        speaker: the sender's name; None: the text has no particular speaker.
        addressee: what "you" is called in its statements; None if unknown.
        at_ms: when it was written (unix ms), `utc_offset_minutes` from UTC.
        reading: the reader's result for it; None in a home without a reader.
        before: the previous messages, the nearest first, which may hold antecedents.
        days: the days that the conversation named before (ordinals).
        keep: the spans whose clauses are kept whatever their salience.
        is_played: it is part of a role play, so nothing in it is meant.
    """

    text: str
    speaker: str | None
    addressee: str | None = None
    at_ms: int
    utc_offset_minutes: int = 0
    reading: TextReading | None = None
    before: tuple[PrecedingMessage, ...] = ()
    days: tuple[int, ...] = ()
    keep: tuple[Span, ...] = ()
    is_played: bool = False


class Findings(Struct, frozen=True):
    """The findings in a document, each kind in the order of the text.

    `quoted` are the spans of other people's words; `kept` those whose clauses are kept whatever
    their salience; `resolves_days`: the days that dates mean are written after them.
    """

    document: Document
    tokens: Tokens
    dates: Sequence[Found]
    mentions: Sequence[Mention]
    contacts: Sequence[Contact]
    introductions: Sequence[Introduction]
    quoted: list[Span]
    kept: Sequence[Span] = ()
    resolves_days: bool = True

    @property
    def text(self) -> str:
        """The text of the document."""
        return self.tokens.text

    def token_range(self, start: int, end: int) -> tuple[int, int]:
        """Return the range of the tokens that begin between two characters."""
        starts = self.tokens.starts
        return bisect_left(starts, start), bisect_left(starts, end)

    def is_prose(self, start: int, end: int) -> bool:
        """Whether a span consists mainly of words: no rule, table, ASCII art or line of code."""
        text, (left, right) = self.text, self.token_range(start, end)
        if text[end - 1] in ";{}|" or _CODE.search(text, start, end):
            return False
        inked = end - start - text.count(" ", start, end)
        return 2 * sum(map(len, self.tokens.words[left:right])) >= inked

    def mentions_in(self, start: int, end: int) -> list[Mention]:
        """Return the mentions within a span; one of the speaker's own name is a person."""
        first, last = (bisect_left(self.mentions, at, key=_start) for at in (start, end))
        inside = (each for each in self.mentions[first:last] if each.end <= end)
        return [self._as_person(each) for each in inside]

    def _as_person(self, mention: Mention) -> Mention:
        speaker = self.document.speaker
        if (
            mention.type in ("OTHER", "LOCATION", "CONCEPT")
            and speaker
            and mention.text in (speaker, speaker.split(" ")[0])
            and not _AFTER_PREPOSITION.search(self.text, max(0, mention.start - 12), mention.start)
        ):
            return Mention(mention.start, mention.end, mention.text, "PERSON")
        return mention

    def dates_in(self, start: int, end: int) -> list[Found]:
        """Return the dates within a span."""
        left, right = self.token_range(start, end)
        return [each for each in self.dates if left <= each.left and each.right <= right]

    def references_in(self, start: int, end: int) -> list[DateReference]:
        """Return the dates in text[start:end]."""
        return [as_reference(self.tokens, each) for each in self.dates_in(start, end)]

    def contacts_in(self, start: int, end: int) -> list[Contact]:
        """Return the contacts that begin within a span."""
        return [each for each in self.contacts if start <= each.start < end]

    def introduces(self, start: int, end: int) -> bool:
        """Whether a span contains an introduction of somebody."""
        return any(start <= each.start < end for each in self.introductions)

    def with_days(self, start: int, end: int) -> str:
        """Return the words of a span with the days that dates mean, white space folded.

        Its leading interjections are left out: "Oh wow, …".
        """
        start = self._after_interjections(start, end)
        references = self.references_in(start, end)
        if not references or not self.resolves_days:
            return " ".join(self.text[start:end].split())
        return with_days(self.text, start, end, references, in_numbers)

    def tags_of(self, words: Sequence[str], start: int, end: int) -> list[str]:
        """Return the Penn Treebank tags of words that render a span; "" where they differ from it.

        A shortened form has the tag of its first part: "I'll" that of "I".
        """
        reading = self.document.reading
        read = reading.words_in(start, end) if reading is not None else ()
        tags: list[str] = []
        place = 0
        for word in words:
            ahead = range(place, min(place + _AHEAD, len(read)))
            found = next((at for at in ahead if self._spells(word, read[at : at + 2])), None)
            tags.append("" if found is None else read[found].tag)
            place = place if found is None else found + 1
        return tags

    def _spells(self, word: str, read: Sequence[ReadWord]) -> bool:
        """Whether a word is the first of some words of the text, or spells two of them."""
        ends = (each.end for each in read)
        return any(self.text[read[0].start : end].lower() == word.lower() for end in ends)

    def _after_interjections(self, start: int, end: int) -> int:
        """Return where a span begins to say something, by the parts of speech of the reader."""
        reading = self.document.reading
        words = reading.words_in(start, end) if reading is not None else ()
        leading = list(takewhile(_is_interjection, words))
        if not leading or len(words) - len(leading) < _FEWEST_WORDS:
            return start
        place = _MARKS.match(self.text, leading[-1].end, end)
        return place.end() if place is not None else start


def _is_interjection(word: ReadWord) -> bool:
    return word.tag == "UH"
