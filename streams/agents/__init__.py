"""The agents: each extracts from a record and its thread, then resolves against the state.

Neither step knows a clock, chance or the network. All agents of a home handle a record, in
the order in which its configuration names them, before the next one.
"""

from collections.abc import Mapping

from recollect.streams.agents.access_counter import AccessCounter
from recollect.streams.agents.agent import Agent, Conversation, Extract, ReadingAgent, ToRead
from recollect.streams.agents.dead_letter_clerk import DeadLetterClerk
from recollect.streams.agents.identity.merge_clerk import MergeClerk
from recollect.streams.agents.mental_model_keeper import MentalModelKeeper
from recollect.streams.agents.state import State
from recollect.streams.agents.turn_closer import TurnCloser
from recollect.streams.agents.writer.model_writer import ModelWriter
from recollect.streams.agents.writer.rule_writer import RuleWriter

#: Recollect's own agents by name, in their order. Homes record the names: they never change.
BY_NAME: Mapping[str, Agent] = {
    "writer": RuleWriter(),
    "accesses": AccessCounter(),
    "merges": MergeClerk(),
    "mentalmodels": MentalModelKeeper(),
    "deadletters": DeadLetterClerk(),
    "ticks": TurnCloser(),
    "modelwriter": ModelWriter(),
}
#: Those of every home that says nothing of agents: all but the one that a model needs.
AGENTS: tuple[Agent, ...] = tuple(agent for name, agent in BY_NAME.items() if name != "modelwriter")

__all__ = [
    "AGENTS",
    "BY_NAME",
    "Agent",
    "Conversation",
    "Extract",
    "ReadingAgent",
    "State",
    "ToRead",
]
