"""What holds for every agent, over a story with every kind of record."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from recollect.schemas.changes import (
    AnalysisRun,
    AnalysisType,
    Facet,
    Fact,
    MentalModel,
    Merge,
    MergeCandidate,
)
from recollect.schemas.events import (
    KINDS,
    Analyse,
    ArchiveMemories,
    CompleteTrajectory,
    ConsolidateMemories,
    CreateMentalModel,
    CreatePlaybook,
    CuratePlaybook,
    DecideMerge,
    DecideWriterPrompt,
    Deletion,
    Draft,
    Drop,
    Edit,
    FindDreams,
    GiveFeedback,
    LogStep,
    ModelAnswered,
    ModelConsolidated,
    OwnAnalysis,
    Park,
    PlaybookStrategy,
    ProposeMerge,
    RecallCount,
    RecallsCounted,
    RecordPlaybookUse,
    Reflect,
    RefreshModels,
    Retract,
    SetMemoryState,
    SetWriterPrompt,
    StartTrajectory,
    StatedAt,
    Tick,
    UndoMerge,
    UpdateMentalModel,
    UpdatePlaybook,
)
from recollect.streams.agents import BY_NAME, Agent
from recollect.streams.analyses.analysis_types import BUILT_IN
from tests.agents.kit import (
    DAY,
    START,
    Outcome,
    Thread,
    Zone,
    asks_to_remember,
    command,
    ends_turn,
    says,
)

#: Also the one that a home has only with a model.
EVERY = tuple(BY_NAME.values())

#: What no agent handles: whoever drives the zone does.
OF_THE_DRIVER = {"forget", "retry", "switch", "skip_record"}
#: What nobody handles yet.
TO_COME: set[str] = set()
#: What is kept as it came, and says nothing that could be remembered.
ONLY_KEPT = {"reaction", "notice", "certify"}


def story(zone: Zone) -> Iterator[Draft]:
    """Yield records of every kind that agents handle; later ones name what earlier ones made."""

    def newest(table: str) -> str:
        model = "identity" if table.startswith("merge") else "memory"
        ((found,),) = zone.ask(model, f"SELECT id FROM {table} ORDER BY rowid DESC LIMIT 1")
        return str(found)

    yield says("Alex", "I live in Lisbon. My email is alex@example.org.", account="u1")
    yield says("Alex", "Where do you live?", account="u2")
    yield says("Bob", "In Rome, with my uncle Tom Baker.")
    yield command(
        RecallsCounted(source_id="r", accesses=(RecallCount("fact", newest("facts"), 2),))
    )
    yield says("Eve", "I moved to Oslo.", turn_id="t1")
    yield says("Eve", "Call me Evie.", turn_id="t2")
    yield ends_turn("t1", "I sold the boat.")
    yield asks_to_remember("The door code is 4711.")
    yield command(DecideMerge(source_id="d", candidate_id=newest("merge_candidates"), approve=True))
    yield command(UndoMerge(source_id="u", merge_id=newest("merges")))
    yield command(
        ProposeMerge(
            source_id="p",
            entity_a=zone.owner_of("u1"),
            entity_b=zone.owner_of("u2"),
            confidence=0.95,
            reason="the same phone",
        )
    )
    yield command(CreateMentalModel(source_id="c", name="Alex", description="Lives in Lisbon."))
    yield command(
        UpdateMentalModel(source_id="m", model_id=newest("mental_models"), description="Moved.")
    )
    yield command(Park(source_id="k", reason="no JSON", body=b"{"))
    yield command(Drop(source_id="x", number=14))
    yield says("Sam", "I repaired the kiln on Fridays at Marlowe Labs.")
    kiln = zone.events[-1].number
    yield command(
        ModelAnswered(
            source_id="w",
            about=kiln,
            answers=(),
            thread=(),
            sources=(kiln,),
            model="m",
            role="r",
        )
    )
    yield command(SetWriterPrompt(source_id="n", name="names", text="Sam is Samuel."))
    yield command(
        ModelAnswered(
            source_id="v",
            about=kiln,
            answers=(),
            thread=(),
            sources=(kiln,),
            model="m",
            role="r",
            rules=3,
        )
    )
    yield command(
        DecideWriterPrompt(
            source_id="o",
            proposal_id=newest("writer_text_proposals"),
            approve=True,
            sources=(kiln,),
        )
    )
    yield says("Sam", "I live in Kyiv.", id="s1")
    yield says("Sam", "I live in Lviv.", kind=Edit, target="s1")
    yield says("Sam", "", kind=Deletion, target="s1")
    kyiv = zone.events[-3]
    yield command(Retract(source_id="a", target=kyiv.id, stated_at=(StatedAt(kyiv.number, 0, 99),)))
    yield command(Retract(source_id="b", target=kyiv.id, restore=True))
    ((episode,),) = zone.ask("memory", "SELECT id FROM episodes ORDER BY rowid LIMIT 1")
    of_it = f"SELECT number FROM episode_events WHERE episode_id = '{episode}'"
    numbers = tuple(number for (number,) in zone.ask("memory", of_it))
    yield command(
        Analyse(
            source_id="y",
            episode_id=str(episode),
            types=(*BUILT_IN, "codes_v1"),
            events=numbers,
            own=(OwnAnalysis(name="codes", patterns={"code": "[a-z]+"}),),
        )
    )
    yield command(Tick(source_id="t", name="close_turns"), at=START + DAY)
    for n in range(3):
        yield says("Ada", f"My horse won prize number {n} in Oslo.", at=START + n * DAY)
    yield command(Tick(source_id="o", name="consolidate"), at=START + 3 * DAY)
    ((cluster,),) = zone.ask("memory", "SELECT min(cluster_id) FROM cluster_facts")
    yield command(
        ModelConsolidated(
            source_id="j",
            cluster_id=str(cluster),
            facts=(),
            seen=0,
            answers=(),
            sources=(kiln,),
            model="m",
            role="r",
        ),
        at=START + 3 * DAY,
    )
    yield command(Tick(source_id="p", name="temporal"), at=START + 3 * DAY)
    yield says("Al", "Always answer in French.", direction="in")
    for home in ("Turin", "Oslo"):
        yield asks_to_remember(f"Ada lives in {home}.", namespace="/ada", path_key="home")
    stored = zone.events[-1].id
    yield command(SetMemoryState(source_id="z", memory_ids=(stored,), state="inactive"))
    yield command(SetMemoryState(source_id="q", memory_ids=(stored,), state="active"))
    yield command(ArchiveMemories(source_id="g", memory_ids=(stored,)))
    for day in ("Mondays", "Fridays"):
        yield asks_to_remember(f"Ada rows on {day}.")
    alike = tuple(each.id for each in zone.events[-2:])
    yield command(ConsolidateMemories(source_id="h", memory_ids=alike))
    yield command(RecallsCounted(source_id="i", accesses=(RecallCount("memory", stored, 1),)))
    yield command(RefreshModels(source_id="f", min_facts=2), at=START + DAY)
    yield from learning(zone)


def learning(zone: Zone) -> Iterator[Draft]:
    """Yield two successful and two failed runs of a task, and what is made of them."""

    def newest(table: str) -> str:
        ((found,),) = zone.ask("memory", f"SELECT id FROM {table} ORDER BY number DESC LIMIT 1")
        return str(found)

    given = (PlaybookStrategy("Read the changelog."),)
    yield command(CreatePlaybook(source_id="pb", name="release", strategies=given))
    book = newest("playbooks")
    for n in range(4):
        yield command(StartTrajectory(source_id=f"t{n}", task="Release", task_type="release"))
        run = newest("trajectories")
        if n % 2:
            yield command(
                LogStep(source_id=f"s{n}", trajectory_id=run, step="action", content="Run tests.")
            )
        yield command(
            CompleteTrajectory(
                source_id=f"e{n}",
                trajectory_id=run,
                status="success" if n % 2 else "failure",
                success_score=n % 2,
            )
        )
    yield command(GiveFeedback(source_id="fb", trajectory_id=run, score=0.5, source="human"))
    yield command(Reflect(source_id="rf", trajectory_id=run))
    yield command(
        FindDreams(
            source_id="fd", tick=1, answers=(), facts=(), topics=(), sources=(), model="m", role="r"
        )
    )
    yield command(CuratePlaybook(source_id="cu", playbook_id=book, trajectory_id=run))
    more = (PlaybookStrategy("Never push on a Friday."),)
    yield command(UpdatePlaybook(source_id="up", playbook_id=book, add=more))
    yield command(RecordPlaybookUse(source_id="us", playbook_id=book, success=True))
    yield says("Al", "If the flight moves, so does the pick-up.")


def told(*agents: Agent) -> list[Outcome]:
    zone = Zone(*agents)
    outcomes: list[Outcome] = []
    for draft in story(zone):
        outcomes.append(zone.read(draft))
        for command_ in outcomes[-1].outbox:
            outcomes.append(zone.read(command_))
    return outcomes


def test_the_story_has_every_kind_and_leads_to_something() -> None:
    outcomes = told(*EVERY)
    assert {outcome.event.kind for outcome in outcomes} == set(
        KINDS
    ) - OF_THE_DRIVER - TO_COME - ONLY_KEPT
    kinds = {type(row) for outcome in outcomes for row in outcome.puts}
    assert {Fact, Merge, MergeCandidate, MentalModel} <= kinds
    assert {AnalysisRun, AnalysisType, Facet} <= kinds
    assert all(outcome.parts for outcome in outcomes)


def test_every_kind_of_record_has_an_agent_or_is_the_drivers() -> None:
    handled = {kind for agent in EVERY for kind in agent.kinds}
    assert handled | OF_THE_DRIVER | TO_COME | ONLY_KEPT == set(KINDS)
    assert handled.isdisjoint(OF_THE_DRIVER | TO_COME | ONLY_KEPT)


def test_deciding_twice_comes_out_the_same() -> None:
    one, other = told(*EVERY), told(*EVERY)
    assert [outcome.parts for outcome in one] == [outcome.parts for outcome in other]


@pytest.mark.parametrize("agent", EVERY, ids=lambda agent: type(agent).__name__)
def test_an_agent_that_decides_writes_nothing_itself(agent: Agent) -> None:
    """It returns what is to stand; whoever drives the zone writes, or does not."""
    zone = Zone(*EVERY)
    for draft in story(zone):
        event, before = zone.next_event(draft), zone.dump()
        if event.kind in agent.kinds:
            agent.resolve(event, agent.extract(event, Thread(zone.events)), zone.state())
        assert zone.dump() == before
        zone.read(draft)


@pytest.mark.parametrize("agent", EVERY, ids=lambda agent: type(agent).__name__)
def test_an_extract_is_the_same_each_time_and_reads_only_what_came_before(agent: Agent) -> None:
    zone = Zone(*EVERY)
    for draft in story(zone):
        event = zone.next_event(draft)
        if event.kind in agent.kinds:
            extract = agent.extract(event, Thread(zone.events))
            assert agent.extract(event, Thread(zone.events)) == extract
            assert all(0 < number < event.number for number in extract.sources)
        zone.read(draft)


def test_conclusions_rest_on_records_that_were_there() -> None:
    for outcome in told(*EVERY):
        for part in outcome.parts:
            assert part.sources == tuple(sorted(set(part.sources)))
            assert 1 <= part.sources[0] <= part.sources[-1] <= outcome.event.number


def test_nobody_deletes() -> None:
    """Derived writes append and supersede; only an erasure deletes."""
    assert not [part for outcome in told(*EVERY) for part in outcome.parts if part.deletes]
