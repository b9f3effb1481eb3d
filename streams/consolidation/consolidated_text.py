"""The text of a consolidated memory: a heading, and numbered, dated lines from its memories.

Nothing is rephrased: a line is a memory's text, or the parts of a long one that say most about what
the memories have in common. Memories that say the same thing share a line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import Any, NamedTuple

from recollect.streams.consolidation.days import day_of, named_days
from recollect.streams.consolidation.observation_text import content_words, repeats
from recollect.streams.consolidation.unit_topics import topics_of
from recollect.streams.consolidation.units import units_of

#: A text has at most this many lines,
MAX_LINES = 12
#: and a line this many words, unless its first part alone has more.
MAX_WORDS = 40
#: The maximum number of topics in a heading, and the minimum share of the memories that each must
#: have.
MAX_TOPICS, TOPIC_SHARE = 3, 0.5


#: The number of the next item of a list, after a sentence.
_LIST_NUMBER = re.compile(r"(?:^|\s+)\d{1,2}[.)]$")
_ENDS = ".!?:;,…"
_LINE_BREAK = re.compile(r"\s*\n\s*")


class Entry(NamedTuple):
    """A memory in a consolidated one.

    Attributes:
        position: its number in the text.
        text: its text; of a consolidated memory, its gist.
        first_at, last_at: the times of its first and last text (unix ms).
        texts: the number of texts under it.
    """

    position: int
    text: str
    first_at: int
    last_at: int
    texts: int = 1


class ConsolidatedText(NamedTuple):
    """The text of a consolidated memory, and its gist: the words of its best lines."""

    text: str
    gist: str


class _Line(NamedTuple):
    """A line, and the entries that it is from."""

    words: str
    content: frozenset[str]
    entries: tuple[Entry, ...]


def consolidated_text(
    entries: Sequence[Entry], statements: Sequence[tuple[str, Sequence[int]]] = ()
) -> ConsolidatedText:
    """Return the text of a consolidated memory.

    `statements`: a model's sentences, with the positions of the entries that they rest on; they
    take the place of the lines.
    """
    counts = Counter(word for entry in entries for word in content_words(entry.text))
    lines = sorted(_lines(entries, counts), key=_in_time)
    heading = _heading(entries, counts)
    shown = [f"{_cited(line.entries)} {_dated(line.entries)}: {line.words}" for line in lines]
    if statements:
        by_position = {entry.position: entry for entry in entries}
        shown = [
            f"{_cited([by_position[place] for place in places])} {text}"
            for text, places in statements
        ]
    left = len(entries) - sum(len(line.entries) for line in lines)
    more = [f"… and {left} more"] if left and not statements else []
    gist = _fitting(
        [line.words for line in lines], [_weight(line, counts, len(entries)) for line in lines]
    )
    return ConsolidatedText("\n".join([f"{heading}:", *shown, *more]), gist)


def _in_time(line: _Line) -> tuple[int, int]:
    return line.entries[0].first_at, line.entries[0].position


def _cited(entries: Sequence[Entry]) -> str:
    return f"[{', '.join(str(each.position) for each in entries)}]"


def _dated(entries: Sequence[Entry]) -> str:
    """Return the days of a line, and how many texts it is from if it consolidates any."""
    texts = sum(each.texts for each in entries)
    return _days(entries) + (f", {texts} memories" if texts > len(entries) else "")


def _days(entries: Sequence[Entry]) -> str:
    return _named(min(e.first_at for e in entries), max(e.last_at for e in entries))


def _named(first: int, last: int) -> str:
    return named_days(date.fromisoformat(day_of(first)), date.fromisoformat(day_of(last)))


def _heading(entries: Sequence[Entry], said: Counter[str]) -> str:
    count = sum(each.texts for each in entries)
    details = f"{count} memories, {_days(entries)}"
    topics = _topics(entries)
    return f"{', '.join(topics)} ({details})" if topics else f"{count} memories ({_days(entries)})"


def _topics(entries: Sequence[Entry]) -> list[str]:
    """Return the words for what most of the memories are about, the most frequent first."""
    having: Counter[str] = Counter()
    words: dict[str, Counter[str]] = {}
    for entry in entries:
        topics: dict[str, str] = {}
        for unit in units_of(entry.text, ()):
            topics = topics_of(unit.text, frozenset()) | topics
        having.update(topics.keys())
        for topic, word in topics.items():
            words.setdefault(topic, Counter())[word] += 1
    least = max(2, TOPIC_SHARE * len(entries))
    often = [
        (-count, topic)
        for topic, count in having.items()
        # A word that is always capitalised may be a name, or only begin sentences.
        if count >= least and not all(word.istitle() for word in words[topic])
    ]
    return [_most_frequent(words[topic]) for _, topic in sorted(often)[:MAX_TOPICS]]


def _most_frequent(words: Counter[str]) -> str:
    return max(words, key=lambda word: (not word.istitle(), words[word], word))


def _lines(entries: Sequence[Entry], counts: Counter[str]) -> list[_Line]:
    """Return the lines to show: first what several memories say, then what is most central."""
    lines: list[_Line] = []
    for entry in entries:
        words = _shortened(entry.text, counts, len(entries))
        content = content_words(words)
        same = next((n for n, line in enumerate(lines) if repeats(content, line.content)), None)
        if same is None:
            lines.append(_Line(words, content, (entry,)))
        else:
            # Of two equivalent lines, the more detailed one is shown.
            shown = max(lines[same][:2], (words, content), key=lambda line: len(line[1]))
            lines[same] = _Line(*shown, (*lines[same].entries, entry))
    lines.sort(key=lambda line: _weight(line, counts, len(entries)), reverse=True)
    return lines[:MAX_LINES]


def _weight(line: _Line, said: Counter[str], count: int) -> tuple[int, float]:
    """Return the sort key of a line: the number of its memories, and its centrality."""
    return len(line.entries), _centrality(line.content, said, count)


def _centrality(words: frozenset[str], said: Counter[str], count: int) -> float:
    return sum(said[word] for word in words) / (count * max(4, len(words)))


def _on_one_line(text: str) -> str:
    """Return a text without line breaks; a dash follows a line that ends without punctuation."""
    text = _LINE_BREAK.sub("\n", text.strip())
    return " ".join(re.sub(r"(?<=\w)\n", " – ", text).split())


def _shortened(text: str, said: Counter[str], count: int) -> str:
    """Return a text, or the most central parts of a long one, in their order."""
    if len(text.split()) <= MAX_WORDS:
        return _on_one_line(text)
    units = [unit for each in units_of(text, ()) if (unit := _LIST_NUMBER.sub("", each.text))]
    if not units:
        return _on_one_line(" ".join(text.split()[:MAX_WORDS])) + " …"
    weights = [_centrality(content_words(unit), said, count) for unit in units]
    return _fitting(units, weights)


def _fitting(parts: Sequence[str], weights: Sequence[Any]) -> str:
    """Return the heaviest parts that fit into a line, in their order, with gaps marked."""
    kept: list[int] = []
    length = 0
    for place in sorted(range(len(parts)), key=lambda n: weights[n], reverse=True):
        size = len(parts[place].split())
        if not kept or length + size <= MAX_WORDS:
            kept.append(place)
            length += size
    text = ""
    for before, place in zip([None, *sorted(kept)], sorted(kept), strict=False):
        if before is not None:
            adjacent = " " if text[-1:] in _ENDS else " – "
            text += adjacent if place == before + 1 else " … "
        text += parts[place]
    return text
