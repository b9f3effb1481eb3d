"""What is decided of the demo is sealed with every event whose words it repeats.

Who forgets an event destroys its key: words of it that stand in what is sealed with other keys
alone could still be read.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from recollect.schemas.changes import DecidedPart
from recollect.schemas.inbound import decode_inbound, draft_of
from recollect.streams.agents.writer.rule_writer import RuleWriter
from tests.agents.kit import Zone

EXPORT = Path(__file__).parents[2] / "demo" / "export.jsonl"
#: What is in so many messages is nobody's own word.
COMMON = 25
#: What the rules add themselves: how a fact is told, types, attributes, reasons, months.
OURS = frozenset(
    re.findall(
        r"\w+",
        """after said again asked answered others other person concept organisation technology
        product place unknown inferred delivery pending merged near duplicate within hours same
        words handle name that gave causal phone email conversation extends derives date number
        event time called nickname with only more also alike part makes addresses alone accounts
        perhaps mailbox they share plan work home family partner role health preference would
        does doesn will have their different january february march april may june july august
        september october november december""",
    )
)
_WORD = re.compile(r"[a-zà-ÿ]{2,}")
#: Shorter words say nothing of anybody.
SHORTEST = 4
_ID = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")


def words_of(value: object) -> set[str]:
    """Return the words of all strings in a value, line breaks and all."""
    return set(
        _WORD.findall(re.sub(r"\\[nrt]", " ", json.dumps(value, ensure_ascii=False)).lower())
    )


def said_in(part: DecidedPart) -> Iterator[tuple[str, set[str]]]:
    """Yield what the rows of a part say, without ids and metadata, and its words."""
    for row in part.puts:
        values = msgspec.to_builtins(row, builtin_types=(bytes,))[1:]
        texts = [
            value
            for value in values
            if isinstance(value, str) and not _ID.fullmatch(value) and not value.startswith("{")
        ]
        yield f"{type(row).__name__}{texts}", words_of(texts)


def is_form_of_any(word: str, others: set[str]) -> bool:
    """Whether a word begins as another one does: "lives" and "live"."""
    return any(len(other) > 2 and other[:3] == word[:3] for other in others)


def test_no_word_of_another_message_is_sealed_without_it() -> None:
    zone = Zone(RuleWriter())
    parts: list[DecidedPart] = []
    words: dict[int, set[str]] = {}
    for line in EXPORT.read_bytes().splitlines():
        outcome = zone.read(draft_of(decode_inbound(line)))
        words[outcome.event.number] = words_of(json.loads(line))
        parts += outcome.parts
    counted = Counter(word for said in words.values() for word in said)
    foreign = []
    for part in parts:
        own = set().union(*(words[number] for number in part.sources))
        for told, said in said_in(part):
            strange = sorted(
                word
                for word in said - own - OURS
                if len(word) >= SHORTEST
                and 0 < counted[word] <= COMMON
                and not is_form_of_any(word, own)
            )
            if strange:
                foreign.append((part.sources, strange, told))
    assert len(parts) > len(words)
    assert foreign == []
