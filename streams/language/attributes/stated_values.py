"""Slots of the values that the reader finds; what stands before a value names its attribute.

That is the noun that it is said of ("the boiler is …" gives `boiler`), or a verb with its
preposition ("moved to …" gives `move to`). Such an attribute is open: its values end nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from recollect.schemas.attributes import is_open
from recollect.streams.language.grammar.analysis import Claim, Mention
from recollect.streams.language.grammar.clauses import Span
from recollect.streams.language.grammar.text_reading import ReadWord, TextReading
from recollect.streams.language.grammar.verbs import base_form

#: In words: a longer phrase names nothing.
_LONGEST = 5
#: How far before the value its verb may be denied, in words.
_DENIED_WITHIN = 4
_DENIALS = frozenset({"not", "n't", "n’t", "no", "never"})
_SPEAKER = frozenset({"i", "we", "my", "our"})
_NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
#: Tags of the words of a noun phrase, of those that begin one, and of links to one.
_PHRASE = _NOUNS | {"JJ", "CD", "DT", "PRP$", "POS"}
_BEGINS = frozenset({"DT", "PRP$", "POS"})
_LINKS = frozenset({"IN", "TO", "RP"})


def stated_value(
    text: str,
    span: Span,
    speaker: str,
    mentions: Sequence[Mention],
    reading: TextReading,
) -> Claim | None:
    """Return the slot that a span of a text fills, with the surest of the values in it, or None."""
    start, end = span
    values = [each for each in reading.values if start <= each.start and each.end <= end]
    if not values:
        return None
    value = max(values, key=lambda each: each.sure)
    words = [each for each in reading.words if start <= each.start and each.end <= value.start]
    if not any(map(_is_verb, words)):
        # "I [take the bus]"
        words += (each for each in reading.words if each.start == value.start and _is_verb(each))
    people = [each for each in mentions if each.type == "PERSON" and each.end <= value.start]
    clause = _Clause(text, words, speaker, people)
    said = " ".join(text[value.start : value.end].split())
    found = clause.slot()
    # "The phone is broken" gives no telephone number.
    return Claim(*found, said) if found is not None and is_open(found[1]) else None


def _is_verb(word: ReadWord) -> bool:
    return word.tag.startswith("VB")


class _Clause:
    """The words of a clause before its value, by which the value is somebody's and has a name."""

    def __init__(
        self, text: str, words: Sequence[ReadWord], speaker: str, people: Sequence[Mention]
    ) -> None:
        self._words = words
        self._lowers = [text[each.start : each.end].lower() for each in words]
        self._speaker = speaker
        self._people = people

    def subject(self) -> str | None:
        """Return whom the clause is about: the speaker, or somebody who is named; None if open."""
        if not _SPEAKER.isdisjoint(self._lowers):
            return self._speaker
        return self._people[0].text if self._people else None

    def is_denied(self) -> bool:
        """Whether what governs the value is denied."""
        return not _DENIALS.isdisjoint(self._lowers[-_DENIED_WITHIN:])

    def slot(self) -> tuple[str, str] | None:
        """Return the subject and the attribute of the value by what governs it; None if nothing."""
        subject = self.subject() or self._speaker
        verbs = [place for place, each in enumerate(self._words) if _is_verb(each)]
        if not verbs:
            return self._of_noun(subject)
        verb = verbs[-1]
        links = [place for place in range(verb + 1, len(self._words)) if self._is_link(place)]
        link = f" {self._lowers[links[-1]]}" if links else ""
        base = base_form(self._lowers[verb])
        if base == "be" and not self.is_denied():
            found = self._of_phrase(verb, subject)
            if found is not None:
                return found
        return subject, f"{'not ' if self.is_denied() else ''}{base}{link}"

    def _is_link(self, place: int) -> bool:
        """Whether a word links the verb to the value, whatever goes with that."""
        after = self._words[place + 1 :]
        return self._words[place].tag in _LINKS and all(each.tag in _PHRASE for each in after)

    def _of_noun(self, subject: str) -> tuple[str, str] | None:
        """Return the slot of a noun, with the preposition after it: "his job in [Portland]"."""
        end = len(self._words)
        if not end or self._words[end - 1].tag not in _LINKS:
            return self._of_phrase(end, subject)
        found = self._of_phrase(end - 1, subject)
        return None if found is None else (found[0], f"{found[1]} {self._lowers[end - 1]}")

    def _of_phrase(self, end: int, subject: str) -> tuple[str, str] | None:
        """Return the slot that the noun phrase just before a word names; None without one."""
        begin = end
        while begin > 0 and self._words[begin - 1].tag in _PHRASE:
            begin -= 1
        owners = [place for place in range(begin, end) if self._words[place].tag in ("PRP$", "POS")]
        if owners and owners[-1] == end - 1:
            return subject, "have"  # "my [girlfriend]"
        first = owners[-1] + 1 if owners else begin
        named = [place for place in range(first, end) if self._words[place].tag not in _BEGINS]
        if not 0 < len(named) <= _LONGEST or self._words[named[-1]].tag not in _NOUNS:
            return None
        last = self._words[named[-1]].start
        if any(each.start <= last < each.end for each in self._people):
            return None
        return subject, " ".join(self._lowers[place] for place in named)
