"""Documents: results other than turns (observations, mental models and entities).

The keyword and vector arms score every document, as there are few. The profile weights the arms as
for turns. Scores are absolute (idf-weighted term coverage, cosine). They are not scaled to the best
score, since a single irrelevant document would then score 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

Kind = Literal["observation", "mental_model", "entity"]
#: (id, text, unix ms): a document and when it was replaced.
Dated = tuple[str, str, int]
#: The similarity to the question that makes a fact near, as a share of that of the nearest fact.
MIN_NEARNESS = 0.75
#: The scopes of which turns are the results.
TURNS = frozenset({"events", "facts"})


class Support(NamedTuple):
    """A fact that supports an observation: when it was stated (unix ms), and in which event.

    `source`: the source id of the event.
    """

    id: str
    text: str
    at: int
    source: str


class Document(NamedTuple):
    """A result other than a turn.

    `words` are searched and `text` is shown. `entities`: ids of the entities that it is about,
    merges not applied. `sources`: source ids of cited events. `items`: the ids of the facts that an
    observation's text states, one for each item. `rests_on`: the ids of the facts that the text of
    any document cites. `facts`: the supporting facts that are near to the question, the nearest
    first. `supersedes`: the documents that it replaced. `is_whole`: it is a page about the entity
    that the question asks about as a whole.
    """

    kind: Kind
    id: str
    text: str
    words: str
    as_of: int
    is_stale: bool
    entities: frozenset[str]
    sources: Sequence[str] = ()
    items: Sequence[str] = ()
    rests_on: Sequence[str] = ()
    facts: Sequence[Support] = ()
    supersedes: Sequence[Dated] = ()
    is_whole: bool = False
