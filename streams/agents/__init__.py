"""The agents: each extracts from a record and its thread, then resolves against the state.

Neither step knows a clock, chance or the network. All agents handle a record, in the order of
`AGENTS`, before the next one.
"""

from streams.agents.accesses import AccessCounter
from streams.agents.agent import Agent, Extract, Surroundings
from streams.agents.deadletters import DeadLetterClerk
from streams.agents.mentalmodels import MentalModelKeeper
from streams.agents.merges import MergeClerk
from streams.agents.state import State
from streams.agents.ticks import TurnCloser
from streams.agents.writer import RuleWriter

AGENTS: tuple[Agent, ...] = (
    RuleWriter(),
    AccessCounter(),
    MergeClerk(),
    MentalModelKeeper(),
    DeadLetterClerk(),
    TurnCloser(),
)

__all__ = ["AGENTS", "Agent", "Extract", "State", "Surroundings"]
