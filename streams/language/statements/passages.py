"""The sentences that are told together with one that tells little by itself."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping

from recollect.streams.language.grammar.clauses import Span, after_lead_in
from recollect.streams.language.grammar.reported import overlaps
from recollect.streams.language.grammar.vocatives import is_courtesy, is_remark, is_salutation
from recollect.streams.language.references.standing_alone import person_open
from recollect.streams.language.statements.message_contents import MessageContents
from recollect.streams.language.worth.lasting import NONE, tells
from recollect.streams.language.worth.worth import is_draft, is_order
from recollect.streams.language.worth.worth_words import KIND_WORDS, LISTENER, SHOWS
from recollect.text.lexicon import MONTHS, WEEKDAYS, word_set

#: So many words are told at most, and so much at least by a sentence before or behind another.
_LONGEST = 45
_LEAST_BEFORE, _LEAST_BEHIND = -1, 1
#: In words: what goes before a few words of a short message; it need only be of some use.
_LONGEST_BEFORE = 14
#: In words: an answer with what is said behind it.
_LONGEST_ANSWER = 30
#: Words by which a day is named; every date has one of them or a number.
_DAYS = frozenset(WEEKDAYS) | frozenset(f"{day}s" for day in WEEKDAYS) | MONTHS.keys()
_DAYS |= word_set("today tonight tomorrow yesterday week weekend month year noon midnight")


class Passages:
    """The sentences of one message that may be told together.

    `told` are those that tell something, by their places in the message.
    """

    def __init__(self, contents: MessageContents, told: Mapping[int, Span]) -> None:
        self._contents = contents
        self._places = list(told)
        self._spans = list(told.values())
        self._starts = [start for start, _ in self._spans]
        self._taken: set[int] = set()

    def around(self, place: int, others: Collection[int] = ()) -> list[Span]:
        """Return the sentence that a place stands in with those beside it in its paragraph, as far
        as they may be told to anybody; what is said before it goes first.

        Sentences in which one of the places `others` stands are told by themselves; no sentence is
        told with two.
        """
        told = [bisect_right(self._starts, other) - 1 for other in others]
        first = last = bisect_right(self._starts, place) - 1
        if told.count(first) > 1:
            return []
        words = self._words(first)
        growing = [-1, 1]
        while growing:
            step = growing.pop(0)
            at = (first if step < 0 else last) + step
            if at in told or at in self._taken or not 0 <= at < len(self._spans):
                continue
            if words + self._words(at) > _LONGEST:
                continue
            if not self._joins(at, first if step < 0 else last):
                continue
            words += self._words(at)
            first, last = min(first, at), max(last, at)
            growing.append(step)
        self._taken.update(range(first, last + 1))
        return self._spans[first : last + 1]

    def behind(self, place: int, others: Collection[int]) -> list[Span]:
        """Return the sentences behind the one that a place stands in, as far as they may be told
        to anybody and none of the places `others` stands in them, while all is short.
        """
        told = {bisect_right(self._starts, other) - 1 for other in others}
        first = at = bisect_right(self._starts, place) - 1
        words = self._words(first)
        while at + 1 < len(self._spans) and at + 1 not in told | self._taken:
            words += self._words(at + 1)
            shows = SHOWS.search(self._contents.text, *self._spans[at + 1]) is not None
            if shows or words > _LONGEST_ANSWER or not self._joins(at + 1, at, NONE + 1):
                break
            at += 1
        self._taken.update(range(first, at + 1))
        return self._spans[first + 1 : at + 1]

    def before(self, place: int) -> Span | None:
        """Return the sentence before the one that a place stands in, where it is short and may be
        told to anybody, also if it is told by itself.

        One with a day, an hour or a number is left to its own fact, which may be corrected.
        """
        at = bisect_right(self._starts, place) - 1
        if at < 1 or not 0 < self._words(at - 1) <= _LONGEST_BEFORE:
            return None
        start, end = span = self._spans[at - 1]
        contents = self._contents
        left, right = contents.places(start, end)
        mentions = contents.mentions_in(start, end)
        numbered = any(each.type in ("DATE", "TIME", "NUMBER") for each in mentions)
        if numbered or not _DAYS.isdisjoint(contents.tokens.lowers[left:right]):
            return None
        exclaims = contents.text[start:end].endswith("!")
        if not mentions and (exclaims or self._words(at - 1) == 1):
            return None
        return span if self._joins(at - 1, at, NONE + 1) else None

    def _joins(self, at: int, to: int, least: int | None = None) -> bool:
        """Whether a sentence may be told with the one beside it.

        `least` is how much it tells at least; None: what is asked of those before and behind.
        """
        if abs(self._places[at] - self._places[to]) != 1:
            return False
        contents = self._contents
        start, end = self._spans[at]
        between = sorted((self._spans[at], self._spans[to]))
        if "\n" in contents.text[between[0][1] : between[1][0]]:
            return False
        if overlaps(contents.others, start, end) or not contents.is_prose(start, end):
            return False
        left, right = contents.places(start, end)
        tokens = contents.tokens
        if left == right or not LISTENER.isdisjoint(tokens.lowers[left:right]):
            return False
        if is_salutation(tokens, start, end, left, right):
            return False
        if is_courtesy(tokens, (start, end)) or is_remark(tokens, (start, end)):
            return False
        said = contents.said(after_lead_in(contents.text, start, end), end)
        if said.left == said.right or not (said.words.telling + len(said.mentions)):
            return False
        own = contents.mentions_in(start, end)
        if person_open(tokens, said.left, right, own, said.left) is not None:
            return False  # Who "he" is may be somebody whom nobody named.
        if is_order(said) or is_draft(said) or KIND_WORDS.search(said.lower):
            return False
        if least is None:
            least = _LEAST_BEFORE if at < to else _LEAST_BEHIND
        return tells(said) >= least

    def _words(self, at: int) -> int:
        left, right = self._contents.places(*self._spans[at])
        return right - left
