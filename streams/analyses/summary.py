"""An extractive summary: the few sentences of an episode that cover most of what it speaks of.

The sentences are chosen greedily for the words that they add, each weighted by how many messages
use it. This is the budgeted maximum coverage of concepts (Gillick and Favre 2009), whose greedy
choice is within a constant of the best (Lin and Bilmes 2010).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import log, sqrt

from recollect.streams.analyses.utterances import Quote, Utterance, local_date, quotes
from recollect.streams.language.grammar.questions import is_question
from recollect.streams.language.relations.content_words import stemmed

#: The maximum number of sentences and of words; a short episode has fewer.
MOST_SENTENCES, MOST_WORDS = 6, 120
#: A sentence with fewer content words is a mere remark.
_FEWEST_TELLING = 2
#: A longer sentence is cut off.
_LONGEST_SENTENCE = 320
#: The minimum score of a further sentence, as a share of the first one's.
_LEAST_GAIN = 0.25
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_OWN = re.compile(r"\b(?:I|I['’]\w+|my|we|we['’]\w+|our)\b", re.IGNORECASE)
#: A name or a number after the first word is more informative than a common word.
_SPECIFIC = re.compile(r"(?<=\w )[A-Z]\w+|\d")
#: A sentence that begins like this takes its topic from the previous one.
_LEANS = re.compile(
    r"(?:(?:and|but|so|well|yeah|yes|wow|oh)[ ,]+)*"
    r"(?:it|its|they|them|their|he|she|his|her|that|this|these|those|it['’]s|they['’]\w+|that['’]s"
    r"|he['’]\w+|she['’]\w+|such|same|there)\b",
    re.IGNORECASE,
)
_OF_OWN, _OF_SPECIFIC, _OF_LEANING, _OF_ASSISTANT = 1.4, 1.2, 0.6, 0.5


def summarise(
    utterances: Sequence[Utterance],
    most_sentences: int = MOST_SENTENCES,
    most_words: int = MOST_WORDS,
) -> list[Quote]:
    """Return the sentences of a summary in the order of the messages; none if nothing is said."""
    names = _names(utterances)
    candidates = [
        (sentence, stems)
        for utterance in utterances
        for sentence in quotes(utterance)
        if (stems := _stems(sentence.text, names))
        and len(stems) >= _FEWEST_TELLING
        and not is_question(sentence.text)
    ]
    weights = _weights(candidates)
    limit = min(most_sentences, 1 + round(sqrt(len(candidates))))
    chosen: list[int] = []
    covered: set[str] = set()
    words, first_gain = 0, 0.0
    while len(chosen) < limit:
        best = max(
            (
                (_value(sentence, stems - covered, weights), -place)
                for place, (sentence, stems) in enumerate(candidates)
                if words + len(sentence.text.split()) <= most_words and place not in chosen
            ),
            default=(0.0, 0),
        )
        first_gain = first_gain or best[0]
        if best[0] <= 0 or best[0] < _LEAST_GAIN * first_gain:
            break
        place = -best[1]
        sentence, stems = candidates[place]
        chosen.append(place)
        covered |= stems
        words += len(sentence.text.split())
    return [candidates[place][0] for place in sorted(chosen)]


def summary_text(summary: Iterable[Quote], utc_offsets: dict[int, int]) -> str:
    """Return a summary as text: each day on a line of its own, then who said what.

    `utc_offsets`: the offsets of the messages by number, in minutes.
    """
    lines: list[str] = []
    day = ""
    for sentence in summary:
        date = local_date(sentence.at, utc_offsets.get(sentence.number, 0))
        if date != day:
            lines.append(date)
            day = date
        lines.append(f"{sentence.speaker}: {' '.join(sentence.text.split())}")
    return "\n".join(lines)


def _names(utterances: Sequence[Utterance]) -> frozenset[str]:
    """The words of the speakers' names, which nearly every message of a chat has."""
    return frozenset(
        word.group().lower()
        for utterance in utterances
        for word in _WORD.finditer(utterance.speaker)
    )


def _stems(text: str, names: frozenset[str]) -> frozenset[str]:
    words = (word.group().lower() for word in _WORD.finditer(text[:_LONGEST_SENTENCE]))
    return frozenset(stemmed(word for word in words if word not in names))


def _weights(candidates: Sequence[tuple[Quote, frozenset[str]]]) -> dict[str, float]:
    """Return the weight of each word: the logarithm of how many messages use it."""
    used = Counter[str]()
    seen: set[tuple[int, str]] = set()
    for sentence, stems in candidates:
        for stem in stems:
            if (sentence.number, stem) not in seen:
                seen.add((sentence.number, stem))
                used[stem] += 1
    return {stem: log(1 + count) for stem, count in used.items()}


def _value(sentence: Quote, added: frozenset[str], weights: dict[str, float]) -> float:
    """Return the value that a sentence adds, divided by the root of its length.

    The value is higher if the speaker refers to themselves or names somebody, and lower if the
    sentence cannot be understood without the previous one, or if an assistant wrote it.
    """
    gain = sum(weights[stem] for stem in added)
    if _OWN.search(sentence.text):
        gain *= _OF_OWN
    if _SPECIFIC.search(sentence.text):
        gain *= _OF_SPECIFIC
    if _LEANS.match(sentence.text):
        gain *= _OF_LEANING
    if sentence.by_assistant:
        gain *= _OF_ASSISTANT
    return gain / sqrt(len(sentence.text.split()))
