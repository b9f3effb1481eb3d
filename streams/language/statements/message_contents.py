"""The words of one message and what was found in them, by where it stands."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from recollect.streams.language.grammar.analysis import Contact, Introduction, Mention
from recollect.streams.language.grammar.clauses import Span
from recollect.streams.language.grammar.text_reading import ReadSentence
from recollect.streams.language.grammar.vocatives import is_vocative
from recollect.streams.language.worth.worth import Said, count_words
from recollect.text.dates.found_dates import Found, as_reference
from recollect.text.dates.resolved_dates import in_numbers, with_days
from recollect.text.tokenizer import Tokens

_CODE = re.compile(r"\(\);|==|=>|</|::|&&")
_PLACED = re.compile(r"\b(?:in|from|to|near|at|around|for|the)\s\Z", re.IGNORECASE)


class MessageContents:
    """A message's tokens, dates, mentions, contacts and introductions, in the order of the text.

    `others` are the spans of other people's words, `read` what the heads read of each sentence.
    `days_resolved`: whether the days that are meant are written into what is said.
    """

    def __init__(
        self,
        tokens: Tokens,
        dates: list[Found],
        mentions: list[Mention],
        contacts: list[Contact],
        introductions: Sequence[Introduction],
        others: list[Span],
        speaker: str | None,
        *,
        read: Sequence[ReadSentence] = (),
        days_resolved: bool = True,
    ) -> None:
        self.tokens = tokens
        self.text = tokens.text
        self.mentions = mentions
        self.others = others
        self.speaker = speaker
        self.days_resolved = days_resolved
        self._read = read
        self._dates = dates
        self._date_lefts = [item.left for item in dates]
        self._mention_starts = [mention.start for mention in mentions]
        self._contacts = contacts
        self._contact_starts = [contact.start for contact in contacts]
        self._introduced = [introduction.start for introduction in introductions]
        self._own = frozenset(speaker.lower().split()) if speaker else frozenset()

    def places(self, start: int, end: int) -> tuple[int, int]:
        """Return the tokens that begin between two characters: the first, and the one after."""
        starts = self.tokens.starts
        return bisect_left(starts, start), bisect_left(starts, end)

    def is_anothers(self, place: int) -> bool:
        """Whether somebody else's words, which began before a place, go on there.

        A message that stands in quotation marks as a whole is its writer's, and an apostrophe
        begins nothing that is sure to be a quotation.
        """
        at = bisect_left(self.others, (place, place)) - 1
        if at < 0:
            return False
        start, end = self.others[at]
        if not start < place < end or self.text[start] == "'":
            return False
        return bool(self.text[:start].strip() or self.text[end:].strip())

    def introduces(self, start: int, end: int) -> bool:
        """Whether somebody is introduced between two characters."""
        return bisect_left(self._introduced, start) != bisect_left(self._introduced, end)

    def is_prose(self, start: int, end: int) -> bool:
        """Whether most of a stretch is words: no rule, table, ASCII art or line of code."""
        text, (left, right) = self.text, self.places(start, end)
        if text[end - 1] in ";{}|" or _CODE.search(text, start, end):
            return False
        inked = end - start - text.count(" ", start, end)
        return 2 * sum(map(len, self.tokens.words[left:right])) >= inked

    def said(self, start: int, end: int) -> Said:
        """Return a stretch of the text with what it mentions, as the gate judges it."""
        tokens = self.tokens
        left, right = self.places(start, end)
        mentions = self.mentions_in(start, end)
        text = tokens.text[start:end]
        named = [item for item in mentions if not is_vocative(tokens.text, item, end)]
        return Said(
            tokens,
            left,
            right,
            text,
            text.lower(),
            named,
            self.dates_in(left, right),
            self._own,
            self._read_at(start),
            count_words(tokens, left, right, named),
        )

    def resolved(self, start: int, end: int) -> str:
        """Return what is said between two characters, with the days that are meant."""
        tokens = self.tokens
        left, right = self.places(start, end)
        dates = self.dates_in(left, right)
        if not dates or not self.days_resolved:
            return " ".join(tokens.text[start:end].split())
        references = [as_reference(tokens, item) for item in dates]
        return with_days(tokens.text, start, end, references, in_numbers)

    def mentions_in(self, start: int, end: int) -> list[Mention]:
        """Return the mentions between two characters; the speaker's own name is a person's."""
        first = bisect_left(self._mention_starts, start)
        last = bisect_left(self._mention_starts, end)
        text, speaker = self.tokens.text, self.speaker
        mentions = [_by_speaker(item, speaker, text) for item in self.mentions[first:last]]
        while mentions and mentions[-1].end > end:
            mentions.pop()
        return mentions

    def dates_in(self, left: int, right: int) -> list[Found]:
        """Return the dates between two tokens."""
        lefts = self._date_lefts
        dates = self._dates[bisect_left(lefts, left) : bisect_left(lefts, right)]
        while dates and dates[-1].right > right:
            dates.pop()
        return dates

    def contacts_in(self, start: int, end: int) -> list[Contact]:
        """Return the contacts that begin between two characters."""
        starts = self._contact_starts
        return self._contacts[bisect_left(starts, start) : bisect_left(starts, end)]

    @property
    def is_read(self) -> bool:
        """Whether the heads read its sentences."""
        return bool(self._read)

    def _read_at(self, start: int) -> ReadSentence | None:
        return next((one for one in self._read if one.start <= start < one.end), None)


def _by_speaker(mention: Mention, speaker: str | None, text: str) -> Mention:
    """The speaker's own name is a person's, whatever else it could be."""
    if (
        mention.type in ("OTHER", "LOCATION", "CONCEPT")
        and speaker
        and mention.text in (speaker, speaker.split(" ")[0])
        and not _PLACED.search(text, max(0, mention.start - 12), mention.start)
    ):
        return Mention(mention.start, mention.end, mention.text, "PERSON")
    return mention
