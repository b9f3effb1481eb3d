"""An oracle of a zone's content, computed from its history by a plain model.

It shares no code with the product: it keeps the list of published records, and derives the expected
content from those that are readable at the end.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

#: Every text that is ever said -> the sentences that are facts. Each text has a word of its own
#: that stands nowhere else, so that its traces can be searched for.
POOL: dict[str, list[str]] = {
    "Ada likes qaxozulem tea.": ["Ada likes qaxozulem tea."],
    "Ada's qebuzamok kitchen is red.": ["Ada's qebuzamok kitchen is red."],
    "Ada's qicozavun bicycle is blue. The cat sleeps under the qicozavun sofa.": [
        "Ada's qicozavun bicycle is blue.",
        "The cat sleeps under the qicozavun sofa.",
    ],
    "Ada's qudozimak honey is sweet. Ada's qudozimak honey is sweet.": [
        "Ada's qudozimak honey is sweet.",
        "Ada's qudozimak honey is sweet.",
    ],
    "Where did you put the qefyzomat keys?": [],
    "Did you see the qogazutim film?": [],
    "Ada moved to Qihurgostad.": ["Ada moved to Qihurgostad."],
    "Ada moved to Qajoville.": ["Ada moved to Qajoville."],
    "Hello qekuzopat.": [],
}
#: Where somebody lives is replaced by where they moved; said again after that, it is news. Who is
#: meant, and so what is replaced, is not said here: these must stand at least once.
MOVES = {"Ada moved to Qihurgostad.", "Ada moved to Qajoville."}
WORDS = {
    "Ada likes qaxozulem tea.": "qaxozulem",
    "Ada's qebuzamok kitchen is red.": "qebuzamok",
    "Ada's qicozavun bicycle is blue. The cat sleeps under the qicozavun sofa.": "qicozavun",
    "Ada's qudozimak honey is sweet. Ada's qudozimak honey is sweet.": "qudozimak",
    "Where did you put the qefyzomat keys?": "qefyzomat",
    "Did you see the qogazutim film?": "qogazutim",
    "Ada moved to Qihurgostad.": "qihurgostad",
    "Ada moved to Qajoville.": "qajoville",
    "Hello qekuzopat.": "qekuzopat",
}


@dataclass
class Said:
    """One ledger record, as it was published."""

    number: int
    event_id: str
    kind: str
    source_id: str
    text: str = ""
    by: str | None = None
    at: int = 0
    turn: str | None = None
    by_agent: bool = False
    targets: tuple[int, ...] = ()
    fact_id: str = ""
    count: int = 0


@dataclass
class Fact:
    """A sentence, where it came from, and who said it."""

    number: int
    sentence: str
    by: str | None


class Oracle:
    """The history of a zone and what follows from it."""

    def __init__(self) -> None:
        self.history: list[Said] = []

    def add(self, said: Said) -> None:
        """Add the next record of the ledger; numbers are dense."""
        assert said.number == len(self.history) + 1
        self.history.append(said)

    def forgotten(self) -> set[int]:
        """Return the numbers of the erased records."""
        gone: set[int] = set()
        for said in self.history:
            if said.kind == "forget":
                gone |= {n for n in said.targets if 0 < n < said.number}
        return {n for n in gone if self.history[n - 1].kind not in ("forget", "switch")}

    def readable(self) -> list[Said]:
        """Return the records that may be read, in order."""
        gone = self.forgotten()
        return [said for said in self.history if said.number not in gone]

    def turns_of_talk(self) -> dict[int, tuple[str, str]]:
        """Return number -> (source id, text) of the expected rows of events.db."""
        return {
            said.number: (said.source_id, said.text)
            for said in self.readable()
            if said.kind in ("message", "remember", "turn_completed") and said.text
        }

    def in_order_of_reading(self) -> list[Said]:
        """Return the records in the order in which the writer reads them: a turn when it ends."""
        over: set[str] = set()
        waiting: dict[str, list[Said]] = {}
        read: list[Said] = []
        for said in self.readable():
            if said.kind == "turn_completed":
                assert said.turn is not None
                over.add(said.turn)
                read += waiting.pop(said.turn, [])
                read.append(said)
            elif said.kind in ("message", "remember"):
                if said.turn is not None and said.turn not in over:
                    waiting.setdefault(said.turn, []).append(said)
                else:
                    read.append(said)
        return read

    def processed(self) -> set[str]:
        """Return the ids of the events that the writer has read."""
        return {said.event_id for said in self.in_order_of_reading()}

    def facts(self) -> Counter[tuple[int, str]]:
        """Return (number of the event, sentence), each as often as it must stand.

        A remembered move may be the one that a message told. `moves` are all moves that may stand.
        """

        def is_known(sentence: str, by: str | None) -> bool:
            return any(
                fact.sentence == sentence
                and (fact.by == by or (sentence in MOVES and None in (fact.by, by)))
                for fact in known
            )

        known: list[Fact] = []
        for said in self.in_order_of_reading():
            if said.by_agent:
                continue
            sentences = POOL[said.text] if said.text else []
            by = said.by
            if said.kind == "remember":
                sentences, by = [said.text], None
            for sentence in sentences:
                # Said again, on whatever day, it is the same fact (fault 51).
                if not is_known(sentence, by):
                    known.append(Fact(said.number, sentence, by))
        return Counter((fact.number, fact.sentence) for fact in known)

    def moves(self) -> set[tuple[int, str]]:
        """Return (number of the event, sentence) of every move that was said."""
        return {
            (said.number, said.text)
            for said in self.in_order_of_reading()
            if said.text in MOVES and not said.by_agent
        }

    def accesses(self) -> Counter[str]:
        """Return fact id -> how often it was recalled, whether or not it stands."""
        counts: Counter[str] = Counter()
        for said in self.readable():
            if said.kind == "recalled":
                counts[said.fact_id] += said.count
        return counts

    def words_that_must_be_gone(self) -> set[str]:
        """Return the words of erased events that no readable event has."""
        left = {word for said in self.readable() for word in self._words(said)}
        gone = self.forgotten()
        lost = {word for said in self.history if said.number in gone for word in self._words(said)}
        return lost - left

    @staticmethod
    def _words(said: Said) -> set[str]:
        words = {WORDS[said.text]} if said.text else set()
        if said.kind in ("message", "remember", "turn_completed"):
            words.add(said.source_id)
        return words
