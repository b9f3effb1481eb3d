"""Documents: results other than turns (observations, mental models and entities).

The keyword and vector arms score every document, as there are few. The profile weights the arms as
for turns. Scores are absolute (idf-weighted term coverage, cosine). They are not scaled to the best
score, since a single irrelevant document would then score 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

Kind = Literal["observation", "mental_model", "entity"]
#: (id, text, unix ms): a fact and when it was stated, or a document and when it was replaced.
Dated = tuple[str, str, int]


class Document(NamedTuple):
    """A result other than a turn.

    `words` are searched and `text` is shown. `entities`: ids of the entities that it is about,
    before merges. `sources`: source ids of cited events. `facts`: the supporting facts.
    `supersedes`: the documents that it replaced.
    """

    kind: Kind
    id: str
    text: str
    words: str
    as_of: int
    is_stale: bool
    entities: frozenset[str]
    sources: Sequence[str] = ()
    facts: Sequence[Dated] = ()
    supersedes: Sequence[Dated] = ()
