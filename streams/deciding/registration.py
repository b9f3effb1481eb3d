"""Load and check the agents that a home's configuration names.

Only an agent's existence and interface are checked. Its author must make sure that it is
deterministic and that it names all sources of its rows (CONTRIBUTING.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from difflib import get_close_matches
from importlib import import_module
from inspect import signature

from recollect.projections.generations import OWN_AGENTS
from recollect.schemas.errors import HomeError
from recollect.schemas.events import KINDS
from recollect.streams.agents import AGENTS, BY_NAME, Agent
from recollect.streams.agents.writer.model.model_writer import ModelWriter
from recollect.streams.agents.writer.rule_writer import RuleWriter
from recollect.streams.language.grammar.enrichment import LESS, STEPS

(_OWN,) = OWN_AGENTS
#: The agents whose steps can be disabled.
_WITH_STEPS = (RuleWriter, ModelWriter)
#: The methods of an agent, and their arguments.
_METHODS = {"extract": ("event", "conversation"), "resolve": ("event", "extract", "state")}


def agents_named(names: Sequence[str], writer_role: int = 0) -> tuple[Agent, ...]:
    """Return the agents with these names, in this order; `writer_role`: the role of a generation.

    `own` stands for all built-in agents, each of which also has a name. An agent of another package
    is named as `package.module:NAME`. Disabled steps follow the name, as in `own-causes`.

    Raises:
        HomeError: a name is unknown, cannot be imported or is not an agent; or an agent is named
            twice.
    """
    if not names:
        raise HomeError(f"agents: name at least one, or {_OWN!r} for recollect's own")
    selected = [(name, agent) for name in names for agent in _agents_of_name(name)]
    names_by_agent: dict[object, str] = {}
    for name, agent in selected:
        identity = type(agent) if isinstance(agent, _WITH_STEPS) else id(agent)
        if identity in names_by_agent:
            raise HomeError(
                f"agents: {name} includes an agent that {names_by_agent[identity]} "
                "already includes; list each agent once"
            )
        names_by_agent[identity] = name
    return tuple(
        ModelWriter(agent.without, writer_role)
        if writer_role and isinstance(agent, ModelWriter)
        else agent
        for _, agent in selected
    )


def with_disabled_steps(names: Sequence[str], steps: Sequence[str]) -> tuple[str, ...]:
    """Return the agents' names with exactly these steps disabled.

    Raises:
        HomeError: a step is unknown, or none of these agents has any of them.
    """
    _check_steps("without", steps)
    disabled = tuple(_with_disabled_steps(name, steps) for name in names)
    if steps and disabled == tuple(name.partition(LESS)[0] for name in names):
        raise HomeError(
            f"`without`: none of the agents {', '.join(names)} has the steps {', '.join(steps)}"
        )
    return disabled


def _with_disabled_steps(name: str, steps: Sequence[str]) -> str:
    if ":" in name:
        return name
    base = name.partition(LESS)[0]
    available = {
        step
        for agent in _builtin_agents(base)
        if isinstance(agent, _WITH_STEPS)
        for step in agent.steps
    }
    return LESS.join([base, *(step for step in STEPS if step in steps and step in available)])


def _check_steps(argument: str, steps: Sequence[str]) -> None:
    for step in steps:
        if step not in STEPS:
            near = get_close_matches(step, STEPS, 1)
            suggestion = f"; did you mean {near[0]}?" if near else ";"
            raise HomeError(
                f"{argument}: there is no step {step!r}{suggestion} steps are {', '.join(STEPS)}"
            )


def _agents_of_name(name: str) -> tuple[Agent, ...]:
    """Return the agents that one name stands for."""
    if ":" in name:
        return (_import_agent(name),)
    base, *steps = name.split(LESS)
    agents = _builtin_agents(base)
    if not steps:
        return agents
    _check_steps(f"agents: {name}", steps)
    if _with_disabled_steps(base, steps) == base:
        raise HomeError(f"agents: {name}: {base} has no steps called {', '.join(steps)}")
    return tuple(
        type(agent)(agent.steps.intersection(steps)) if isinstance(agent, _WITH_STEPS) else agent
        for agent in agents
    )


def _builtin_agents(name: str) -> tuple[Agent, ...]:
    """Return the built-in agents with this name."""
    if name == _OWN:
        return AGENTS
    if name in BY_NAME:
        return (BY_NAME[name],)
    near = get_close_matches(name, BY_NAME, 1)
    suggestion = f"; did you mean {near[0]}?" if near else ";"
    raise HomeError(
        f"agents: recollect has no agent {name!r}{suggestion} give {_OWN}, one of "
        f"{', '.join(BY_NAME)}, or package.module:NAME for an agent of another package"
    )


def _import_agent(name: str) -> Agent:
    """Import an agent of another package."""
    module_name, _, attribute = name.partition(":")
    try:
        module = import_module(module_name)
    except Exception as error:
        # A foreign module may raise anything.
        raise HomeError(
            f"agents: {name} cannot be imported ({type(error).__name__}: {error}): install its "
            "package where recollect is installed, or add its folder to PYTHONPATH"
        ) from error
    if not hasattr(module, attribute):
        raise HomeError(f"agents: {name} does not exist: {module_name} has no {attribute!r}")
    agent: Agent = getattr(module, attribute)
    if (problem := _interface_problem(agent)) is not None:
        raise HomeError(f"agents: {name} is not an agent: {problem}")
    return agent


def _interface_problem(agent: object) -> str | None:
    """Return why an object is not an agent, or None if it is."""
    if isinstance(agent, type):
        return f"it is the class {agent.__name__}; name an instance of it"
    kinds = getattr(agent, "kinds", None)
    if not isinstance(kinds, AbstractSet) or not kinds:
        return "it has no `kinds`, the set of the event kinds that it handles"
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        return f"there is no kind of event {min(map(repr, unknown))}; kinds are {', '.join(KINDS)}"
    for name, arguments in _METHODS.items():
        method = getattr(agent, name, None)
        if not callable(method):
            return f"it has no method {name}({', '.join(arguments)})"
        try:
            signature(method).bind(*arguments)
        except TypeError as error:
            return f"its {name} cannot be called as {name}({', '.join(arguments)}): {error}"
    return None
