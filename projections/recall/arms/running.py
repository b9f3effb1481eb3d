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
from projections.recall.question.parsed_question import ParsedQuestion

# The arms over what agents concluded; a turn is searchable by its words before they have.
_CONCLUDED = frozenset({"statement", "semantic", "sentence"})


def run(
    wanted: frozenset[str], question: ParsedQuestion, index: Index, files: ZoneFiles, pool: int
) -> Heard:
    """Run the arms that are wanted and can say something; each brings up to `pool` candidates."""
    arms: dict[str, Said] = {}
    facts: dict[str, float] = {}
    evidence: dict[str, float] = {}
    by_vector = "semantic" in wanted and question.vector is not None
    if "keyword" in wanted:
        arms["keyword"], evidence["keyword"] = keyword(question, index)
        arms["statement"], facts = statement(question, index, pool=pool, tell=not by_vector)
    if by_vector and question.vector is not None:
        arms["semantic"], turn = semantic(question, question.vector, index, pool)
        arms["sentence"], facts, fact = sentence(question, question.vector, index, pool)
        evidence["cosine"] = max(turn, fact)
    if "entity" in wanted and (
        question.named or question.speakers or question.entity_turns is not None
    ):
        arms["entity"] = entity(question, index)
    if "temporal" in wanted and question.spans:
        arms["temporal"] = temporal(question, index)
    if "causal" in wanted and facts:
        arms["causal"] = causal(question, index, files, facts)
    if len(unconcluded := index.unconcluded):
        for name in arms.keys() & _CONCLUDED:
            arms[name] = arms[name]._replace(unread=unconcluded)
    return Heard(len(index.turns), arms, facts, evidence)
