"""Who may read and change what: every operation, for every scope, visibility and principal.

The oracle is another zone in which the private memories were never stored: to a principal who may
not read them, both zones look alike.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from recollect import MemoryInput, PlaybookStrategy, Recollect, RecollectError, UnknownId
from recollect.library.library_zone import Zone
from recollect.operations.table.operation import Operation
from recollect.operations.table.zone_operations import all_operations
from tests.library.kit import said
from tests.slow_parameters import slow_except

SCOPES = ("agent", "user", "zone", "global")
VISIBILITIES = ("private", "shared", "public")
#: Who may read a memory that the agent "bot" stored on behalf of "ada", by scope and visibility.
OWN = {"ada", "ada/bot"}
ADA = {"ada", "ada/bot", "ada/other"}
ALL = {*ADA, "bob", "bob/bot", "-/bot"}
READERS = {
    ("agent", "private"): OWN,
    ("agent", "shared"): ADA,
    ("agent", "public"): ALL,
    ("user", "private"): ADA,
    ("user", "shared"): ALL,
    ("user", "public"): ALL,
    **{(scope, visibility): ALL for scope in ("zone", "global") for visibility in VISIBILITIES},
}
WRITERS = {"agent": OWN, "user": ADA, "zone": ALL, "global": ADA}
#: Tables about events or facts that have no rows of private memories.
MADE_WITHOUT_PRIVATE = {
    *("episodes", "episode_events", "entity_facts", "fact_units", "cluster_facts"),
    *("observation_facts", "observation_items", "fact_likenesses"),
}
#: Words that are in private memories alone.
NEEDLES = ("zelda", "quux", "cobalt")
TALK = (said("m1", "I live in Turin with a puppy."), said("m2", "I sold a boat.", by="Bob"))
_VARYING = re.compile(
    r"[0-7][0-9A-HJKMNP-TV-Z]{25}|\d{4}-\d\d-\d\dT[\d:.]+Z|memory-[0-9a-f]{32}|content-[0-9a-f]{32}"
)
#: Fields that count or name records of the ledger, or say how long a call took.
_OF_THE_LEDGER = {
    *("ms", "number", "token", "head", "events", "watermark", "hash", "generation", "lag_seconds"),
    *("seconds", "seconds_since_progress", "models", "zone", "records", "bytes", "files"),
    *("similarity", "event_count", "created_at", "cursor"),
}


def acting(zone: Zone, who: str) -> Zone:
    user, _, agent = who.partition("/")
    return zone.acting_as(user=None if user == "-" else user, agent=agent or None)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recollect]:
    with Recollect(tmp_path_factory.mktemp("permissions") / "home") as recollect:
        yield recollect


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("visibility", VISIBILITIES)
def test_scope_and_visibility_decide_who_reads_and_writes(
    opened: Recollect, scope: Any, visibility: Any
) -> None:
    zone = opened.zone(f"{scope}-{visibility}")
    zone.ingest(TALK)
    made, *_ = acting(zone, "ada/bot").store_memories(
        [MemoryInput(content="Zelda hides cobalt.", scope=scope, visibility=visibility)]
    )
    id_ = made.event_id
    for who in sorted(ALL):
        view = acting(zone, who)
        reads = who in READERS[scope, visibility]
        assert [each.memory_id for each in view.query_memories()] == [id_] * reads, who
        assert any("cobalt" in fact.text for fact in view.facts()) == reads, who
        texts = [each.text for each in view.recall("Who hides cobalt?").results]
        assert any("cobalt" in text for text in texts) == reads, who
        if not reads:
            with pytest.raises(UnknownId):
                view.stored_memory(id_)
            with pytest.raises(UnknownId):
                view.get_memory(id_)
        may_write = reads and who in WRITERS[scope]
        if not may_write:
            assert view.set_memory_state([id_], "inactive").unknown == [id_], who
            with pytest.raises(UnknownId):
                view.update_memory(id_, "Changed.")
            with pytest.raises(UnknownId):
                view.roll_back_memory(id_, 1)
            with pytest.raises(UnknownId):
                view.retract(id_)
            with pytest.raises(UnknownId):
                view.forget(id_, dry_run=True)
    assert zone.stored_memory(id_).state == "active"
    owner = acting(zone, "ada/bot")
    assert owner.set_memory_state([id_], "inactive").changed == [id_]


@pytest.mark.parametrize(
    ("visibility", "readers"), [("private", ADA), ("shared", ALL), ("public", ALL), (None, ALL)]
)
def test_a_visibility_alone_decides_who_reads(
    opened: Recollect, visibility: Any, readers: set[str]
) -> None:
    zone = opened.zone(f"alone-{visibility}")
    made, *_ = acting(zone, "ada/bot").store_memories(
        [MemoryInput(content="Zelda hides cobalt.", visibility=visibility)]
    )
    assert zone.stored_memory(made.event_id).visibility == (visibility or "private")
    for who in sorted(ALL):
        read = [each.memory_id for each in acting(zone, who).query_memories()]
        assert read == [made.event_id] * (who in readers), who


def test_a_private_memory_of_nobody_is_for_the_zone_itself(opened: Recollect) -> None:
    zone = opened.zone("alone")
    (made,) = zone.store_memories(
        [MemoryInput(content="Zelda hides cobalt.", visibility="private")]
    )
    assert [each.memory_id for each in zone.query_memories()] == [made.event_id]
    for who in sorted(ALL):
        assert not list(acting(zone, who).query_memories())


class Worlds(NamedTuple):
    """A zone with private memories, the same without them, and ids of what is private."""

    full: Zone
    bare: Zone
    hidden: list[str]


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worlds]:
    homes = [tmp_path_factory.mktemp("worlds") / name for name in ("full", "bare")]
    with Recollect(homes[0]) as one, Recollect(homes[1]) as other:
        # The same name, so that the same events have the same ids.
        yield _worlds(one.zone("acme"), other.zone("acme"))


def _worlds(full: Zone, bare: Zone) -> Worlds:
    at = iter(f"2026-06-{day:02}T10:00:00Z" for day in range(1, 28))
    for zone in (full, bare):
        zone.ingest(TALK)
    public = MemoryInput(content="Bob prefers tea.", at=next(at), namespace="/n", path_key="k")
    for zone in (full, bare):
        zone.store_memories([public])
    private = [
        "Zelda Quux keeps the deploy key in a cobalt safe.",
        "Ada lives in Cobalt Springs.",
        "Call me Zelda. My email is zelda@quux.example.",
        "Because Zelda moved to Cobalt Springs, she sold the boat.",
    ]
    scopes: tuple[Any, ...] = ("user", "agent")
    for text, scope in itertools.product(private, scopes):
        acting(full, "ada/bot").store_memories(
            [MemoryInput(content=text, at=next(at), scope=scope, namespace="/n", path_key=text[:9])]
        )
    later = [
        MemoryInput(content=text, at=next(at))
        for text in ("She likes the sea.", "Ada lives in Turin.", "Zoe met Ada in Turin.")
    ]
    for zone in (full, bare):
        for memory in later:
            zone.store_memories([memory])
        zone.analyse()
    for scope in scopes:
        (level,) = acting(full, "ada/bot").consolidate_memories(method="criteria", scope=scope)
        assert level.archived == 4
    for zone in (full, bare):
        zone.consolidate_memories(method="criteria", scope="zone")
    secret = [each for each in full.query_memories(limit=1_000) if each.scope != "zone"]
    # Four of each scope, and what consolidates them.
    assert len(secret) == 10
    hidden = [each.memory_id for each in secret]
    hidden += [fact.id for fact in full.facts() if any(n in fact.text.lower() for n in NEEDLES)]
    hidden += [each.id for each in full.entities() if any(n in each.name.lower() for n in NEEDLES)]
    assert len(hidden) > 12
    hidden += _learn(full, bare)
    return Worlds(full, bare, hidden)


def _learn(full: Zone, bare: Zone) -> list[str]:
    """Record runs that everyone reads in both zones, hidden ones in one; return hidden ids."""
    private = acting(full, "ada/bot")
    book = private.create_playbook(
        "release cobalt", visibility="private", strategies=[PlaybookStrategy("Call Zelda Quux.")]
    )
    hidden = [book.id, *(each.id for each in book.strategies)]
    for number, (works, scope) in enumerate(itertools.product((True, False), ("user", "agent"))):
        for zone, options in (
            (private, {"scope": scope, "visibility": "private", "playbook_id": book.id}),
            (full, {}),
            (bare, {}),
        ):
            secret = zone is private
            task = "Release the cobalt key of Zelda" if secret else f"Release {number}"
            run = zone.start_trajectory(task, task_type="release", **options)  # type: ignore[arg-type]
            text = "Ask Zelda Quux." if works else "Hurry past cobalt."
            step = zone.log_step(run.id, "action", text if secret else f"Step {works}.")
            ended = zone.complete_trajectory(
                run.id, "success" if works else "failure", learn=not secret
            )
            given = zone.give_feedback(run.id, 0.9, comment="cobalt" if secret else "fine")
            assert given.feedback == 1
            if secret:
                private.learn_from(run.id)
                ended = private.trajectory(run.id)
                hidden += [run.id, step.id, *ended.reflections]
                hidden += [each.id for each in ended.feedback]
    return hidden


def plain(value: object) -> Any:
    """Return what an answer says, without ids, times and positions in the ledger."""

    def cleaned(item: Any) -> Any:
        if isinstance(item, dict):
            return {key: cleaned(each) for key, each in item.items() if key not in _OF_THE_LEDGER}
        if isinstance(item, list):
            # Analyses made at the same moment are in the order of their ids.
            found = [cleaned(each) for each in item]
            return sorted(found, key=str) if any(map(_is_of_analysis, item)) else found
        if isinstance(item, float):
            return round(item, 2)
        return _VARYING.sub("*", item) if isinstance(item, str) else item

    return cleaned(msgspec.to_builtins(value))


def _is_of_analysis(item: object) -> bool:
    return isinstance(item, dict) and "analysis_id" in item


#: Arguments of operations that need some; {id} is an id.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "recall": {"query": "Where is the deploy key of Zelda?"},
    "context": {"task": "Where does Ada live, and who keeps the key?"},
    "reflect": {"query": "Where does Ada live?"},
    "explain": {"query": "Where does Ada live?", "id": "{id}"},
    "evaluate": {"questions": [{"id": "q", "query": "Who has a key?", "sources": ["m1"]}]},
    "compare": {"a": "Ada", "b": "{id}"},
    "hints": {"query": "Where is it?", "entity": "{id}"},
    "get_entity": {"entity": "{id}"},
    "related": {"entity": "{id}"},
    "diff_memories": {"id": "{id}", "other": "{id}"},
    "branch_diff": {"branch": "none"},
    "forget": {"ids": ["{id}"], "dry_run": True},
    "certificate": {"number": 1},
    "record": {"number": 5},
    "infer": {"query": "Who keeps the deploy key?"},
    "search_tiers": {"query": "Who keeps the deploy key of Zelda?"},
    "search_memories": {"query": "Who keeps the deploy key?"},
    "consolidate_memories": {"method": "criteria"},
    "list_paths": {"path": "/workspace/acme/memory/n"},
    "glob_paths": {"pattern": "/**"},
    "read_path": {"path": "/objs/memory/{id}"},
    "complete_trajectory": {"status": "success"},
    "update_playbook": {"remove": ["{id}"]},
    "relevant_strategies": {"task": "Release it with Zelda"},
}
DEFAULTS: dict[str, Any] = {
    "id": "{id}",
    "ids": ["{id}"],
    "text": "New.",
    "description": "New.",
    "version": 1,
    "state": "inactive",
    "entity": "{id}",
    "entities": ["{id}"],
    "source": "{id}",
    "target": "Ada",
    "entity_a": "{id}",
    "entity_b": "{id}",
    "confidence": 0.5,
    "reason": "r",
    "kind": "action",
    "content": "New.",
    "score": 0.5,
    "success": True,
    "trajectory_id": "{id}",
    "status": "rejected",
}
#: Operations that only add something.
NOT_ASKED = {"add_directive", "create_mental_model", "remember", "store_memories", "analyse"}
NOT_ASKED |= {"start_trajectory", "create_playbook"}
#: Operations that report on the ledger, whose records they count.
NOT_ASKED |= {"status", "consistency_token", "certificates"}


def tried(operation: Operation[..., Any], zone: Zone, id_: str) -> Any:
    """Return what an operation says about an id, as an answer or as an error."""
    required = {each.name for each in msgspec.structs.fields(operation.input) if each.required}
    values = {name: DEFAULTS[name] for name in required if name in DEFAULTS}
    values |= ARGUMENTS.get(operation.name, {})
    text = msgspec.json.encode(values).decode().replace("{id}", id_)
    args, kwargs = operation.arguments(msgspec.json.decode(text, type=operation.input))
    try:
        return plain(getattr(zone, operation.name)(*args, **kwargs))
    except RecollectError as error:
        home = str(zone._zone.open_home.home.directory)
        said = _VARYING.sub("*", str(error)).replace(home, "*").replace(zone.name, "*")
        return type(error).__name__, said


ASKED = [
    each
    for each in all_operations()
    if each.right in ("read", "write", "forget") and each.name not in NOT_ASKED
]


@pytest.mark.parametrize("operation", ASKED, ids=lambda operation: operation.name)
@pytest.mark.parametrize(
    "who",
    [
        "bob",
        pytest.param("bob/bot", marks=pytest.mark.slow),
        pytest.param("-/helper", marks=pytest.mark.slow),
    ],
)
def test_a_hidden_memory_is_as_if_it_did_not_exist(
    worlds: Worlds, operation: Operation[..., Any], who: str
) -> None:
    view, bare = acting(worlds.full, who), acting(worlds.bare, who)
    nothing = "01KR3XZBC0BAQNHSCT9EJ4NDPT"
    ids = [*worlds.hidden[:: 1 + len(worlds.hidden) // 5], "Zelda Quux", nothing]
    for id_ in ids:
        found = tried(operation, view, id_)
        said = str(found).lower().replace(id_.lower(), "").replace("zelda", "")
        assert not [each for each in NEEDLES[1:] if each in said], (id_, found)
        assert found == tried(operation, bare, id_), id_


def test_what_private_memories_say_reaches_no_page_and_no_episode(worlds: Worlds) -> None:
    for table in ("entity_facts", "episodes", "mental_models", "facets"):
        with worlds.full._zone.files() as files:
            found = files.memory.connection.execute(f"SELECT * FROM {table}").fetchall()
        assert not [each for each in NEEDLES if each in str(found).lower()], table


def test_every_table_about_events_or_facts_is_covered(worlds: Worlds) -> None:
    """Else a table that somebody adds would show rows of private memories."""
    with acting(worlds.full, "bob")._zone.files() as files:
        for model in (files.memory, files.identity):
            covered = {
                name for (name,) in model.connection.execute("SELECT name FROM sqlite_temp_schema")
            }
            found = model.connection.execute(
                "SELECT DISTINCT list.name FROM main.sqlite_schema AS list, "
                "pragma_table_info(list.name) AS info WHERE list.type = 'table' "
                "AND (info.name LIKE '%event_id' OR info.name LIKE '%fact_id')"
            )
            assert {name for (name,) in found} - covered <= MADE_WITHOUT_PRIVATE


def test_every_table_about_trajectories_is_covered(worlds: Worlds) -> None:
    """Else a table that somebody adds would show rows of hidden trajectories."""
    with acting(worlds.full, "bob")._zone.files() as files:
        connection = files.memory.connection
        covered = {name for (name,) in connection.execute("SELECT name FROM sqlite_temp_schema")}
        found = connection.execute(
            "SELECT DISTINCT list.name FROM main.sqlite_schema AS list, "
            "pragma_table_info(list.name) AS info WHERE list.type = 'table' "
            "AND info.name IN ('trajectory_id', 'reflection_id')"
        )
        # A playbook learns only from trajectories that all its readers may read.
        assert {name for (name,) in found} - covered == {"playbook_versions"}


def test_past_states_hide_them_too(worlds: Worlds) -> None:
    bob = acting(worlds.full, "bob")
    token = worlds.full.consistency_token()
    texts = [each.text for each in bob.recall("Who keeps the deploy key?", known_at=token).results]
    assert not [each for each in NEEDLES if each in str(texts).lower()]
    assert not [each for each in NEEDLES if each in str(bob.timeline(known_at=token)).lower()]


def test_a_user_exports_no_records_of_everyone(worlds: Worlds, tmp_path: Path) -> None:
    bob = acting(worlds.full, "bob")
    for export in (bob.export_lines, lambda: bob.export(tmp_path / "all.jsonl")):
        with pytest.raises(RecollectError, match="every user's records"):
            export()
    assert not list(tmp_path.iterdir())


def test_a_principal_stores_for_itself_alone(worlds: Worlds) -> None:
    with pytest.raises(RecollectError, match="is not your own"):
        acting(worlds.full, "bob").store_memories([MemoryInput(content="Hi.", user_id="ada")])


@pytest.mark.parametrize("seed", slow_except([0], range(6)))
def test_random_histories_have_no_hole(opened: Recollect, seed: int) -> None:
    """Random principals store, update, deactivate; nobody ever sees what is not theirs."""
    rng = random.Random(seed)
    zone = opened.zone(f"fuzz-{seed}")
    zone.ingest(TALK)
    people = sorted(ALL)
    stored: dict[str, tuple[str, str, str, str]] = {}
    for number in range(24):
        who = rng.choice(people)
        view = acting(zone, who)
        if stored and rng.random() < 0.3:
            id_ = rng.choice(sorted(stored))
            owner, scope, visibility, _ = stored[id_]
            allowed = _allowed(owner, who, WRITERS_OF[scope]) and _allowed(
                owner, who, _readers(scope, visibility)
            )
            report = view.set_memory_state([id_], rng.choice(["active", "inactive"]))
            assert (report.unknown == []) == allowed, (who, stored[id_])
            continue
        chosen: Any = rng.choice(SCOPES), rng.choice(VISIBILITIES)
        scope, visibility = chosen
        word = f"qqx{number}"
        made, *_ = view.store_memories(
            [MemoryInput(content=f"Ada calls it {word}.", scope=chosen[0], visibility=chosen[1])]
        )
        stored[made.event_id] = (who, scope, visibility, word)
    for who in people:
        view = acting(zone, who)
        seen = str(
            [
                view.query_memories(state="any", superseded=True),
                view.facts(superseded=True),
                view.list_memories("events"),
                view.recall("What does Ada call it?", max_results=100),
                view.entities(),
                view.timeline(),
                view.episodes(),
            ]
        )
        for owner, scope, visibility, word in stored.values():
            readable = _allowed(owner, who, _readers(scope, visibility))
            assert (f"{word}." in seen) == readable, (who, owner, scope, visibility)


#: To whom a memory belongs, or who reads it: the agent of the user, the user, or everyone.
WRITERS_OF = {"agent": "agent", "user": "user", "zone": "all", "global": "user"}


def _readers(scope: str, visibility: str) -> str:
    if visibility == "public" or scope in ("zone", "global"):
        return "all"
    if visibility == "private":
        return scope
    return "shared by the agent" if scope == "agent" else "all"


def _allowed(owner: str, who: str, circle: str) -> bool:
    user, agent = _names(owner)
    own_user, own_agent = _names(who)
    if circle == "all":
        return True
    if circle == "agent" and agent:
        return (
            own_user == user
            if not own_agent and user
            else (own_agent == agent and (not user or own_user == user))
        )
    if circle == "shared by the agent" and not (user and agent):
        return True
    return own_user == user if user else own_agent == agent


def _names(principal: str) -> tuple[str, str]:
    user, _, agent = principal.partition("/")
    return "" if user == "-" else user, agent
