"""Documents: what is recalled apart from turns (observations, mental models and entities).

The arms that can read them score each, and the profile weighs the arms as it does for turns.
There are few documents, so every one is read. Their scores are absolute (the share of the
question's words by idf, the cosine of the vectors) and not relative to one another: where there
is only one document, it need not answer anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

Kind = Literal["observation", "mental_model", "entity"]
#: (id, text, unix ms) of a fact and when it was said, or of a document and when it was replaced.
Dated = tuple[str, str, int]


class Document(NamedTuple):
    """Something other than a turn that can be recalled.

    `words` are searched, `text` is shown. `entities`: the ids, as they were linked, of those it
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
