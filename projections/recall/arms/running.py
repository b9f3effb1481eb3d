"""Which arms run, and what they say together."""

from __future__ import annotations

from projections.files import ZoneFiles
from projections.recall.arms.arm_scores import Heard, Said
from projections.recall.arms.causal import causal
from projections.recall.arms.entity import entity
from projections.recall.arms.keyword import keyword, statement
from projections.recall.arms.semantic import semantic, sentence
from projections.recall.arms.temporal import temporal
from projections.recall.index.zone_index import Index
from projections.recall.question.parsed_question import Asked

# The arms over what agents concluded; a turn is searchable by its words before they have.
_CONCLUDED = frozenset({"statement", "semantic", "sentence"})


def run(wanted: frozenset[str], asked: Asked, index: Index, files: ZoneFiles) -> Heard:
    """Run the arms that are wanted and can say something."""
    arms: dict[str, Said] = {}
    facts: dict[str, float] = {}
    evidence: dict[str, float] = {}
    by_vector = "semantic" in wanted and asked.vector is not None
    if "keyword" in wanted:
        arms["keyword"], evidence["keyword"] = keyword(asked, index)
        arms["statement"], facts = statement(asked, index, tell=not by_vector)
    if by_vector and asked.vector is not None:
        arms["semantic"], turn = semantic(asked, asked.vector, index)
        arms["sentence"], facts, fact = sentence(asked, asked.vector, index)
        evidence["cosine"] = max(turn, fact)
    if "entity" in wanted and (asked.named or asked.voices or asked.about is not None):
        arms["entity"] = entity(asked, index)
    if "temporal" in wanted and asked.spans:
        arms["temporal"] = temporal(asked, index)
    if "causal" in wanted and facts:
        arms["causal"] = causal(asked, index, files, facts)
    if len(unconcluded := index.unconcluded):
        for name in arms.keys() & _CONCLUDED:
            arms[name] = arms[name]._replace(unread=unconcluded)
    return Heard(len(index.turns), arms, facts, evidence)
