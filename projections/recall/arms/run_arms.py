"""Runs the arms that read the whole zone."""

from __future__ import annotations

from recollect.projections.files import ZoneFiles
from recollect.projections.recall.arms.arm_scores import ArmScores, ScoresByArm
from recollect.projections.recall.arms.causal import causal
from recollect.projections.recall.arms.entity import entity
from recollect.projections.recall.arms.keyword import keyword, statement
from recollect.projections.recall.arms.semantic import semantic, sentence
from recollect.projections.recall.arms.temporal import temporal
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.parsed_question import ParsedQuestion

# These search what the agents derive from a turn; by its words a turn is found before that.
_DECIDED = frozenset({"statement", "semantic", "sentence"})


def run_arms(
    wanted: frozenset[str], question: ParsedQuestion, index: Index, files: ZoneFiles, pool: int
) -> ScoresByArm:
    """Run those of the `wanted` arms that have something to look for.

    Each brings up to `pool` candidates.
    """
    arms: dict[str, ArmScores] = {}
    facts: dict[str, float] = {}
    evidence: dict[str, float] = {}
    personal = None
    by_vector = "semantic" in wanted and question.vector is not None
    if "keyword" in wanted:
        arms["keyword"], evidence["keyword"] = keyword(question, index)
        arms["statement"], facts = statement(question, index, pool=pool, with_facts=not by_vector)
    if by_vector and question.vector is not None:
        arms["semantic"], turn = semantic(question, question.vector, index, pool)
        arms["sentence"], facts, fact = sentence(question, question.vector, index, pool)
        evidence["cosine"] = max(turn.cosine, fact.cosine)
        if turn.personal is not None and fact.personal is not None:
            personal = max(turn.personal, fact.personal)
    if "entity" in wanted and (
        question.named or question.speakers or question.entity_turns is not None
    ):
        arms["entity"] = entity(question, index)
    if "temporal" in wanted and question.spans:
        arms["temporal"] = temporal(question, index)
    if "causal" in wanted and facts:
        arms["causal"] = causal(question, index, files, facts)
    if len(undecided := index.undecided_turns):
        for name in arms.keys() & _DECIDED:
            arms[name] = arms[name]._replace(unread=undecided)
    return ScoresByArm(len(index.turns), arms, facts, evidence, personal)
