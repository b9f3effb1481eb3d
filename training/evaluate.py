"""Evaluate the writer on the labelled corpus: python -m training.evaluate [--check | --record].

Each source's threads go through `extract`, in order, in a scratch home with recollect's own reader.
Prints a row of figures for each source of the dev split and one for each split. `--show` prints
lines of the dev split that the writer got wrong; a line of the test split is never printed.
`--record` writes the figures to `corpus/figures.json`; `--check` fails if a figure of the test
split is worse than recorded by more than its standard error.

| figure | is |
|---|---|
| kept | messages with labelled facts from which a fact was extracted |
| false | messages without labelled facts from which a fact was extracted |
| found | labelled facts of which an extracted fact has 60% of the quote's content words |
| wanted | extracted facts that find a labelled one, or lie mostly within labelled quotes |
| whole | content words of the found labelled sentences that the extracted fact has |
| days | found labelled facts with days whose extracted fact speaks of exactly these days |
| slots | labelled facts of slot types whose value is extracted as a value |
| leaks | sentences that are not the sender's own words from which a fact was extracted |
| dates | F1 of expressions of days, by their days; `fires`: messages without any that give one |
| names | F1 of named persons, organisations and places, by span and type |
| whom | pronouns whose referent was found |
"""

from __future__ import annotations

import argparse
import math
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from recollect.home.home_directory import Home
from recollect.home.ledgers import gateway_of
from recollect.operations.writing.extracting import Extractor
from recollect.schemas.inbound import InboundEvent, draft_of
from recollect.schemas.wire import Extraction, Fact
from recollect.streams.encoder.catalog import MINILM
from recollect.text.lexicon import word_set
from training.labelled_corpus import (
    CORPUS,
    SLOTLESS,
    TRUSTED,
    LabelledFact,
    LabelledMessage,
    Split,
    messages,
    sources,
    threads,
)

_STOP = word_set(
    """a an the of to in on at for and or but so is are was were be been being am with by from
    as that this it its i i'm my me mine we our us you your he his him she her they their them
    who which what when where how did do does done had has have having not no just very really
    also then than there here will would can could should about into up out if all any some more
    most much many one"""
)
_NAMED = frozenset({"PERSON", "ORG", "LOCATION"})
#: The figures, in the order of the table.
FIGURES = (
    *("kept", "false", "found", "wanted", "whole", "days", "slots", "leaks"),
    *("dates", "fires", "names", "whom"),
)

#: The figures that are F1 scores, and those for which lower is better.
_HARMONIC = frozenset({"dates", "names"})
_LOWER_IS_BETTER = frozenset({"false", "leaks", "fires"})
#: The figures of the product as it is.
RECORDED = CORPUS / "figures.json"

Show = Callable[[str], None]


def events(thread: Sequence[LabelledMessage]) -> Iterator[InboundEvent]:
    """Yield a thread's messages as events."""
    senders = {message.sender for message in thread}
    with_assistant = "assistant" in senders
    for message in thread:
        yield InboundEvent(
            platform="assistant" if with_assistant else "chat",
            id=message.id,
            sender_id=message.sender,
            sender_name=message.sender,
            occurred_at=message.at,
            content=message.text,
            peer_id=message.thread,
            peer_kind=None if with_assistant else "group" if len(senders) > 2 else "dm",
            thread_id=message.thread,
            session_id=message.thread,
            direction="out" if message.sender == "assistant" else "in",
        )


def content_words(text: str) -> set[str]:
    """Return the stems of a text's content words."""
    words = re.findall(r"[^\W_]+(?:'[^\W_]+)?", text.replace("’", "'").lower())
    return {_stem(word) for word in words if word not in _STOP}


def _stem(word: str) -> str:
    for ending in ("'s", "ing", "ied", "ed", "es", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word[: -len(ending)]
    return word


def covers(words: set[str], quote: set[str]) -> bool:
    """Return whether words include 60% of a quote's content words; False if it has none."""
    return bool(quote) and len(quote & words) >= 0.6 * len(quote)


class Tally(Counter[str]):
    """Counts of what was labelled, extracted and right, and the figures that they give."""

    def figures(self) -> dict[str, Figure]:
        """Return each figure as a share; 0 if it is a share of nothing."""
        found = {}
        for name in FIGURES:
            of = self[f"of {name}"]
            share = self[name] / max(1, of)
            if name in _HARMONIC:
                share = 2 * self[name] / max(1, of + self[f"given {name}"])
            found[name] = Figure(round(share, 4), of)
        return found

    def count(self, message: LabelledMessage, got: Extraction, show: Show) -> None:
        """Count a message."""
        self._count_facts(message, got.facts, show)
        self._count_dates(message, got, show)
        self._count_mentions(message, got, show)

    def _count_facts(self, message: LabelledMessage, facts: Sequence[Fact], show: Show) -> None:
        text, wanted = message.text, message.facts
        name = "kept" if wanted else "false"
        self[f"of {name}"] += 1
        self[name] += bool(facts)
        if bool(wanted) != bool(facts):
            what = [fact.text for fact in wanted or facts]
            show(f"{'not kept' if wanted else 'kept'}: {message.id} {text[:300]!r}\n    {what}")
        texts = [content_words(fact.text) for fact in facts]
        quotes = [content_words(text[slice(*fact.quote)]) for fact in wanted]
        for labelled, quote in zip(wanted, quotes, strict=True):
            self._count_fact(message, labelled, quote, facts, texts, show)
        everything = set[str]().union(*quotes)
        words = content_words(text)
        for words_of_fact in texts:
            own = words_of_fact & words
            finds = any(covers(words_of_fact, quote) for quote in quotes)
            within = bool(own) and bool(quotes) and 2 * len(own & everything) >= len(own)
            self["of wanted"] += 1
            self["wanted"] += finds or within
        self._count_leaks(message, texts, show)

    def _count_leaks(self, message: LabelledMessage, texts: Sequence[set[str]], show: Show) -> None:
        text = message.text
        for sentence in message.sentences:
            if sentence.voice in TRUSTED or sentence.voice == "assistant":
                continue
            words = content_words(text[sentence.start : sentence.end])
            if len(words) < 3:
                continue
            self["of leaks"] += 1
            leaked = any(covers(fact_words, words) for fact_words in texts)
            self["leaks"] += leaked
            if leaked:
                show(f"leaked: {message.id} {text[sentence.start : sentence.end][:200]!r}")

    def _count_fact(
        self,
        message: LabelledMessage,
        labelled: LabelledFact,
        quote: set[str],
        facts: Sequence[Fact],
        texts: Sequence[set[str]],
        show: Show,
    ) -> None:
        best = max(range(len(facts)), key=lambda place: len(quote & texts[place]), default=None)
        is_found = best is not None and covers(texts[best], quote)
        self["of found"] += 1
        self["found"] += is_found
        if is_found and best is not None:
            sentence = content_words(labelled.text)
            self["of whole"] += len(sentence)
            self["whole"] += len(sentence & texts[best])
            if labelled.first:
                when = facts[best].when
                days = (when.first, when.last) if when else None
                right = days == (labelled.first, labelled.last)
                self["of days"] += 1
                self["days"] += right
                if not right:
                    show(
                        f"days: {message.id} {message.at} {message.text[slice(*labelled.quote)]!r}"
                        f" {labelled.first}..{labelled.last}, not {days}"
                    )
        if labelled.value and labelled.type not in SLOTLESS:
            value = content_words(message.text[slice(*labelled.value)])
            given = [content_words(fact.value) for fact in facts if fact.value]
            right = any(
                value <= given_words or (bool(given_words) and given_words <= value)
                for given_words in given
            )
            self["of slots"] += 1
            self["slots"] += right
            if not right:
                show(
                    f"slot: {message.id} {message.text[slice(*labelled.quote)]!r}"
                    f" {labelled.type} = {message.text[slice(*labelled.value)]!r}"
                )

    def _count_dates(self, message: LabelledMessage, got: Extraction, show: Show) -> None:
        wanted = [date for date in message.dates if date.first]
        # A bare clock time belongs to the message's day; it does not express a day.
        given = [
            mention
            for mention in got.mentions
            if isinstance(mention.first, str)
            and isinstance(mention.last, str)
            and mention.type == "DATE"
        ]
        if not message.dates:
            self["of fires"] += 1
            self["fires"] += bool(given)
            if given:
                show(f"fires: {message.id} {[(date.text, date.first) for date in given]}")
        named = [date for date in wanted if not date.time]
        left, right = list(given), 0
        for date in named:
            hit = next(
                (
                    mention
                    for mention in left
                    if mention.start < date.end
                    and date.start < mention.end
                    and (mention.first, mention.last) == (date.first, date.last)
                ),
                None,
            )
            self["of dates"] += 1
            if hit is not None:
                left.remove(hit)
                right += 1
            else:
                show(
                    f"date: {message.id} {message.at} {message.text[date.start : date.end]!r}"
                    f" {date.first}..{date.last}"
                )
        timed = [date for date in message.dates if date.time or date.recurs]
        left = [
            mention
            for mention in left
            if not any(mention.start < date.end and date.start < mention.end for date in timed)
        ]
        self["dates"] += right
        self["given dates"] += right + len(left)
        for mention in left:
            show(f"no such date: {message.id} {mention.text!r} {mention.first}..{mention.last}")

    def _count_mentions(self, message: LabelledMessage, got: Extraction, show: Show) -> None:
        named = {
            (mention.start, mention.end, mention.type)
            for mention in message.mentions
            if mention.type in _NAMED and mention.who is None
        }
        given = {
            (mention.start, mention.end, mention.type)
            for mention in got.mentions
            if mention.type in _NAMED and not mention.pronoun
        }
        self["of names"] += len(named)
        self["given names"] += len(given)
        self["names"] += len(named & given)
        for start, end, type_ in sorted(named - given):
            show(f"name: {message.id} {message.text[start:end]!r} {type_}")
        for start, end, type_ in sorted(given - named):
            show(f"no such name: {message.id} {message.text[start:end]!r} {type_}")
        for mention in message.mentions:
            if mention.who is None:
                continue
            resolved = [one for one in got.mentions if one.start == mention.start and one.entity]
            who = mention.who.casefold()
            self["of whom"] += 1
            self["whom"] += any(
                one.entity is not None
                and (one.entity.casefold() in who or who in one.entity.casefold())
                for one in resolved
            )


def tally(source: str, home: Home, show: Show) -> Tally:
    """Return the counts of a source."""
    found = Tally()
    with Extractor("default", gateway_of(home)) as extractor:
        for thread in threads(messages(source)):
            for message, event in zip(thread, events(thread), strict=True):
                got = extractor.extract(draft_of(event))
                if message.sender != "assistant":
                    found.count(message, got, show)
    return found


class Figure(msgspec.Struct, frozen=True):
    """A share, and its denominator."""

    value: float
    of: int

    def is_worse_than(self, recorded: Figure, *, lower_is_better: bool) -> bool:
        """Whether it is worse than a recorded one by more than the standard error."""
        noise = math.sqrt(recorded.value * (1 - recorded.value) / max(1, recorded.of))
        change = self.value - recorded.value
        return (change if lower_is_better else -change) > noise


def check(found: Mapping[str, Figure], recorded: Mapping[str, Figure]) -> list[str]:
    """Return a line for each figure that is worse than recorded by more than its noise."""
    return [
        f"{name}: {found[name].value:.3f}, recorded {figure.value:.3f} (of {figure.of})"
        for name, figure in recorded.items()
        if found[name].is_worse_than(figure, lower_is_better=name in _LOWER_IS_BETTER)
    ]


def evaluate(split: Split, home: Home, show: Show) -> Tally:
    """Print and return the figures of a split; its sources one by one unless it is held out."""
    whole = Tally()
    for source in sources(split):
        of_source = tally(source.name, home, show)
        whole.update(of_source)
        if split != "test":
            _print_row(f"{split} {source.name}", of_source)
    _print_row(split, whole)
    return whole


def main() -> None:
    """Evaluate, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--show", default="", help="kinds of faults to print: kept,date,slot …")
    parser.add_argument("--check", action="store_true", help="compare with the recorded figures")
    parser.add_argument("--record", action="store_true", help="record the figures")
    given = parser.parse_args()
    kinds = tuple(part.strip() for part in given.show.split(",") if part.strip())

    def show(line: str) -> None:
        if kinds and line.startswith(kinds):
            print(line)

    print(f"{'':26s}" + "".join(f"{name:>8s}" for name in FIGURES))
    with tempfile.TemporaryDirectory() as folder:
        home = Home.create_or_open(Path(folder) / "home", encoder=MINILM.name)
        figures = {
            "dev": evaluate("dev", home, show).figures(),
            "test": evaluate("test", home, lambda _: None).figures(),
        }
    if given.record:
        content = msgspec.json.format(msgspec.json.encode(figures), indent=1)
        RECORDED.write_bytes(content + b"\n")
    if given.check:
        recorded = msgspec.json.decode(RECORDED.read_bytes(), type=dict[str, dict[str, Figure]])
        worse = check(figures["test"], recorded["test"])
        print("\n".join(worse) or "no figure of the test split is worse than recorded")
        sys.exit(1 if worse else 0)


def _print_row(name: str, of: Tally) -> None:
    figures = of.figures()
    print(f"{name:26s}" + "".join(f"{figures[each].value:8.3f}" for each in FIGURES), flush=True)


if __name__ == "__main__":
    main()
