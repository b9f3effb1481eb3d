"""The agents: each extracts from a record and its conversation, then decides with the state.

Both steps are deterministic: no clock, no randomness, no network. All agents of a home handle a
record, in the order of its configuration, before the next record.
"""

from collections.abc import Mapping

from recollect.streams.agents.access_counter import AccessCounter
from recollect.streams.agents.agent import (
    Agent,
    AnnotatingAgent,
    Conversation,
    DerivingAgent,
    Extract,
    TextToAnnotate,
)
from recollect.streams.agents.consolidation.consolidator import Consolidator
from recollect.streams.agents.dead_letter_handler import DeadLetterHandler
from recollect.streams.agents.dependency_keeper import DependencyKeeper
from recollect.streams.agents.episodes.episode_analyst import EpisodeAnalyst
from recollect.streams.agents.episodes.episode_grouper import EpisodeGrouper
from recollect.streams.agents.identity.merge_handler import MergeHandler
from recollect.streams.agents.learning.learning_handler import LearningHandler
from recollect.streams.agents.memories.memory_keeper import MemoryKeeper
from recollect.streams.agents.mental_models.directive_handler import DirectiveHandler
from recollect.streams.agents.mental_models.mental_model_handler import MentalModelHandler
from recollect.streams.agents.relationship_finder import RelationshipFinder
from recollect.streams.agents.retraction_handler import RetractionHandler
from recollect.streams.agents.state import State
from recollect.streams.agents.turn_closer import TurnCloser
from recollect.streams.agents.writer.model.model_writer import ModelWriter
from recollect.streams.agents.writer.rule_writer import RuleWriter

#: The built-in agents by name, in order. Homes store these names, so they must never be changed.
BY_NAME: Mapping[str, Agent] = {
    "writer": RuleWriter(),
    "accesses": AccessCounter(),
    "merges": MergeHandler(),
    "retractions": RetractionHandler(),
    # Before the mental models, which follow the retractions that it derives.
    "memories": MemoryKeeper(),
    "mentalmodels": MentalModelHandler(),
    "directives": DirectiveHandler(),
    "learning": LearningHandler(),
    "dependencies": DependencyKeeper(),
    "episodes": EpisodeGrouper(),
    "analyses": EpisodeAnalyst(),
    "relationships": RelationshipFinder(),
    "deadletters": DeadLetterHandler(),
    "ticks": TurnCloser(),
    "modelwriter": ModelWriter(),
    "consolidation": Consolidator(),
}
#: Built-in agents that a home has only if its configuration names them: one needs a language model,
#: the other is named by new homes alone, so that older ones keep what they have.
OPTIONAL = frozenset({"modelwriter", "consolidation"})
#: The agents of a home whose configuration names none.
AGENTS: tuple[Agent, ...] = tuple(agent for name, agent in BY_NAME.items() if name not in OPTIONAL)

__all__ = [
    "AGENTS",
    "BY_NAME",
    "Agent",
    "AnnotatingAgent",
    "Conversation",
    "DerivingAgent",
    "Extract",
    "State",
    "TextToAnnotate",
]
