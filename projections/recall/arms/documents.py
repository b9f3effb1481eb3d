"""What is recalled beside turns: observations, mental models and entities, as documents.

The arms that can read them say how well each answers, and the profile weighs them as it weighs
turns. There are few of them, so every one is read. What they share with a question is measured
by itself (the share of its words by idf, the cosine of its vector), not against one another: one
document alone need not answer anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

Kind = Literal["observation", "mental_model", "entity"]
#: (id, text, unix ms) of a fact and when it was said, or of a document and when it was replaced.
Dated = tuple[str, str, int]


class Document(NamedTuple):
    """Something other than a turn that can be recalled.

    `words` are looked for, `text` is shown. `entities`: the ids, as they were linked, of those it
    is about. `sources` are the source's own ids of events that it cites, `facts` those that
    support it, and `supersedes` the documents that it replaced.
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
