"""Runs the arms that search the whole zone."""

from __future__ import annotations

import numpy as np

from recollect.projections.files import ZoneFiles
from recollect.projections.recall.arms.arm_scores import ArmScores, ScoresByArm
from recollect.projections.recall.arms.causal import causal
from recollect.projections.recall.arms.entity import entity
from recollect.projections.recall.arms.graph_arm import graph
from recollect.projections.recall.arms.keyword import keyword, statement
from recollect.projections.recall.arms.semantic import semantic, sentence
from recollect.projections.recall.arms.temporal import temporal
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.parsed_question import ParsedQuestion

# Arms that search what the agents derived from a turn, and so cannot read undecided turns.
_DERIVED_ARMS = frozenset({"statement", "semantic", "sentence"})


def run_arms(
    enabled: frozenset[str], question: ParsedQuestion, index: Index, files: ZoneFiles, pool: int
) -> ScoresByArm:
    """Run the `enabled` arms for which the question has a search key.

    A vector arm finds up to `pool` candidates. The graph arm runs at any budget, if asked for.
    """
    arms: dict[str, ArmScores] = {}
    facts: dict[str, float] = {}
    evidence: dict[str, float] = {}
    personal_cosine = None
    by_vector = "semantic" in enabled and question.vector is not None
    if "keyword" in enabled:
        arms["keyword"], evidence["keyword"] = keyword(question, index)
        arms["statement"], facts = statement(question, index, pool=pool, with_facts=not by_vector)
    if by_vector and question.vector is not None:
        arms["semantic"], turn = semantic(question, question.vector, index, pool)
        arms["sentence"], facts, fact = sentence(question, question.vector, index, pool)
        evidence["cosine"] = max(turn.cosine, fact.cosine)
        if turn.personal is not None and fact.personal is not None:
            personal_cosine = max(turn.personal, fact.personal)
    if "entity" in enabled and (
        question.topic.named or question.speakers or question.entity_turns is not None
    ):
        arms["entity"] = entity(question, index)
    if "temporal" in enabled and question.spans:
        arms["temporal"] = temporal(question, index, files)
    if "source" in enabled and question.sources is not None:
        arms["source"] = ArmScores(None, question.masked(question.sources.astype(np.float32)))
    if "causal" in enabled and facts:
        arms["causal"] = causal(question, index, files, facts)
    if question.query.graph_mode != "none" and (found := graph(question, index, files, facts)):
        arms["graph"] = found
    if len(undecided := index.undecided_turns):
        for name in arms.keys() & _DERIVED_ARMS:
            arms[name] = arms[name]._replace(unread=undecided)
    return ScoresByArm(len(index.turns), arms, facts, evidence, personal_cosine)
