"""An erasure makes again what rested on it and no more; the oracle derives everything again."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
import pytest

from recollect.projections.events import event_queries
from recollect.projections.events.event_queries import sources
from recollect.schemas.events import (
    CreateMentalModel,
    DecideMerge,
    Deletion,
    Draft,
    Drop,
    Edit,
    Event,
    Message,
    ProposeMerge,
    RefreshMentalModel,
    Remember,
    Retract,
    Retry,
    StatedAt,
    UndoMerge,
    UpdateMentalModel,
)
from recollect.schemas.ids import entity_id
from recollect.schemas.names import normalise_name
from recollect.streams.agents import AGENTS
from recollect.streams.deciding import dependencies, erasing, redeciding
from recollect.streams.deciding.decider import LedgerConversation
from recollect.streams.lifecycle.rebuilding import rebuild, rollback
from recollect.streams.lifecycle.verifying import verify
from recollect.streams.system.locks import exclusive
from tests.protocol.kit import (
    DAY,
    MINUTE,
    START,
    ZONE,
    Home,
    Poisoned,
    Switch,
    agree,
    command,
    complete,
    files_holding,
    forget,
    hashes_of,
    projected,
    say,
)
from tests.slow_parameters import slow_except

MakeHome = Callable[..., Home]

# Said again and again by several: repeats, claims that take each other's place, names given
# early and late, questions and answers, causes, addresses.
TEXTS = (
    "I like green tea.",
    "I moved to {city}.",
    "I live in {city} now.",
    "My email is {who}@example.org.",
    "Call me {nick}.",
    "My name is {name}.",
    "Where does {name} live?",
    "In a house by the river.",
    "{name} lives in {city}.",
    "I met {name} and {nick} in {city}.",
    "My uncle {nick} has a farm.",
    "The train was late. That's why I missed the show.",
    "Have you seen the map?",
    "I work at Larch.",
    "Hello all.",
    "Always answer in French.",
    "You can use emojis again. Never call me {nick}.",
    "I play the violin in a quartet. I also play the cello at weddings.",
    "I also sing in a quartet with {name}.",
    "I have a cat called {nick}.",
    "We got another cat named {nick} in {city}.",
    "I sold my boat in May. So I have to rent one in {city}.",
)
CITIES = ("Oslo", "Lima", "Turin", "Bonn")
NAMES = ("Ada Moreau", "Bob Stone", "Cem Akar", "Dana Frost")
NICKS = ("Addie", "Bobby", "Tom")
# Unmerged persons.
PEOPLE = "SELECT id FROM entities WHERE type = 'person' AND merged_into IS NULL ORDER BY id"


@pytest.fixture
def traced_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """No erasure may derive everything again."""

    def refuse(*arguments: object) -> None:
        raise AssertionError("an erasure derived the zone in full")

    monkeypatch.setattr(erasing, "_full_difference", refuse)


def talk(draw: random.Random, n: int) -> Draft:
    """Return something that somebody says; now and then in a turn, or under another name."""
    who = draw.randrange(4)
    text = draw.choice(TEXTS).format(
        city=draw.choice(CITIES), who=f"u{who}", nick=draw.choice(NICKS), name=draw.choice(NAMES)
    )
    in_turn = draw.random() < 0.15
    name = NAMES[who] if draw.random() < 0.7 else draw.choice((None, NICKS[who % 3]))
    return Draft(
        platform=draw.choice(("chat", "chat", "mail")),
        occurred_at=START + n * draw.choice((MINUTE, DAY // 3)),
        ingested_at=START + n,
        payload=Message(
            source_id=f"m{n}",
            sender_id=f"u{who}",
            sender_name=name,
            content=text,
            thread_id=f"t{draw.randrange(3)}",
            turn_id=f"T{n // 12}" if in_turn else None,
            direction="in" if who == 3 else None,
        ),
    )


def steps(draw: random.Random, home: Home, n: int) -> list[Draft]:
    """Return what happens next: mostly talk, sometimes a command on what stands."""
    chance = draw.random()
    at = START + n * MINUTE
    if chance < 0.08:
        return [complete(f"T{draw.randrange(max(1, n // 12) + 1)}", f"c{n}", at=at)]
    if chance < 0.12:
        text = draw.choice(("The key is in the safe.", "I like green tea."))
        return [command(Remember(source_id=f"r{n}", sender_id="u0", content=text), at)]
    if chance < 0.2:
        return _on_what_stands(draw, home, n, at)
    if chance < 0.32:
        return [_revised(draw, n)]
    return [talk(draw, n)]


def _revised(draw: random.Random, n: int) -> Draft:
    """Return an edit or a deletion of a message that is there, that comes, or that never does."""
    said = talk(draw, n)
    assert isinstance(said.payload, Message)
    fields = {name: getattr(said.payload, name) for name in said.payload.__struct_fields__}
    fields |= {"source_id": f"x{n}", "target": f"m{draw.randrange(n + 4)}"}
    payload: Edit | Deletion
    if draw.random() < 0.7:
        payload = Edit(**fields)
    else:
        del fields["revised_at"]
        payload = Deletion(**fields | {"content": "", "turn_id": None})
    return msgspec.structs.replace(said, platform="chat", payload=payload)


def _on_what_stands(draw: random.Random, home: Home, n: int, at: int) -> list[Draft]:
    entities = [e for (e,) in home.rows("identity", "SELECT id FROM entities ORDER BY id")]
    merges = [m for (m,) in home.rows("identity", "SELECT id FROM merges ORDER BY id")]
    waiting = home.rows(
        "identity", "SELECT id FROM merge_candidates WHERE status = 'pending' ORDER BY id"
    )
    models = [m for (m,) in home.rows("memory", "SELECT id FROM mental_models ORDER BY number")]
    kind = draw.randrange(10)
    if kind in (7, 8) and entities:
        model = draw.choice(models) if models and kind == 8 else None
        payload = RefreshMentalModel(
            source_id=f"f{n}", entity_id=draw.choice(entities), model_id=model
        )
        return [command(payload, at)]
    if kind == 9 and entities:
        made = CreateMentalModel(
            source_id=f"e{n}",
            name="E",
            description=draw.choice(("", "A note.")),
            entity_id=draw.choice(entities),
            refresh_trigger={"by_hand": True},
        )
        return [command(made, at)]
    if kind in (5, 6) and (facts := _stated_facts(home)):
        fact, event, number = draw.choice(facts)
        target = fact if draw.random() < 0.8 else event
        source = f"a{n}"
        if draw.random() < 0.3:
            return [command(Retract(source_id=source, target=target, restore=True), at)]
        start = draw.randrange(12)
        at_ = (StatedAt(number, start, start + draw.randrange(30)),)
        return [command(Retract(source_id=source, target=target, stated_at=at_), at)]
    if kind == 0 and len(entities) > 1:
        people = [e for (e,) in home.rows("identity", PEOPLE)]
        one, other = draw.sample(people if len(people) > 1 and draw.random() < 0.7 else entities, 2)
        sure = draw.choice((0.5, 0.95))
        return [
            command(
                ProposeMerge(
                    source_id=f"p{n}", entity_a=one, entity_b=other, confidence=sure, reason="seen"
                ),
                at,
            )
        ]
    if kind == 1 and merges:
        by_command = home.rows("identity", "SELECT merge_id FROM merges_by_command ORDER BY 1")
        if by_command and draw.random() < 0.7:
            merges = [m for (m,) in by_command]
        return [command(UndoMerge(source_id=f"u{n}", merge_id=draw.choice(merges)), at)]
    if kind == 2 and waiting:
        decision = DecideMerge(
            source_id=f"d{n}", candidate_id=draw.choice(waiting)[0], approve=draw.random() < 0.7
        )
        return [command(decision, at)]
    if kind == 3 and models:
        payload_ = UpdateMentalModel(source_id=f"v{n}", model_id=models[-1], description=f"v{n}")
        return [command(payload_, at)]
    return [command(CreateMentalModel(source_id=f"w{n}", name="W", description=f"d{n}"), at)]


def _stated_facts(home: Home) -> list[tuple[str, str, int]]:
    """Return each fact with the id and the number of the event that it was taken from."""
    numbers = dict(home.rows("events", "SELECT id, number FROM events"))
    facts = home.rows("memory", "SELECT id, source_event_id FROM facts ORDER BY id")
    return [(fact, event, numbers[event]) for fact, event in facts if event in numbers]


@pytest.mark.parametrize("seed", slow_except([0], range(12)))
def test_any_erasure_leads_where_deriving_everything_again_does(
    home: Home, traced_only: None, decided: list[int], seed: int
) -> None:
    draw = random.Random(seed)
    n = 0
    home.tell(talk(draw, n))
    for _ in range(4):
        for _ in range(25):
            n += 1
            home.tell(*steps(draw, home, n))
        head = home.ledger.head(ZONE).number
        n += 1
        home.tell(forget(*draw.sample(range(1, head + 1), draw.choice((1, 2, 6))), at=START + n))
        agree(home)
    assert verify(home.node, ZONE).ok


def test_records_that_were_parked_retried_and_dropped(
    make_home: MakeHome, traced_only: None
) -> None:
    switch = Switch()
    home = make_home("home", (*AGENTS, Poisoned("bad", switch)))
    home.tell(
        say("I like green tea.", "1"),
        say("I moved to Oslo, bad luck.", "2"),
        say("I like bad tea.", "3"),
        say("I moved to Lima.", "4"),
    )
    switch.on = False
    home.tell(
        command(Retry(source_id="retry:2", number=2)), command(Drop(source_id="drop:3", number=3))
    )
    home.tell(say("I like green tea.", "5"), forget(1))
    agree(home)
    home.tell(forget(2))
    agree(home)
    assert home.letters() == [(3, "message", home.letters()[0][2], "dropped")]
    home.tell(forget(3))
    agree(home)
    assert home.letters() == []


def test_what_does_not_rest_on_it_is_left_alone(
    home: Home, traced_only: None, decided: list[int]
) -> None:
    """Forty people talk, one a day; a message of one concerns the next of hers, and no other."""
    # Names that are not like each other: a new name is compared with those that are like it.
    names = [f"{one.upper()}a{other}o" for one in "bfklmnrst" for other in "bfklmnrst"]
    for n in range(200):
        who = n % 40
        text = f"I keep {n} bees."
        home.publish(say(text, f"m{n}", by=names[who], thread=f"t{who}", at=START + n * DAY))
    home.drive()
    home.tell(forget(1))
    # The account and the person come into being one message later; the thread lost a message.
    assert decided == [41]
    agree(home)


# Names of which many sound alike or share words: more than a new one is compared with.
FIRST = ("Jon", "John", "Joan", "Junie", "Mel", "Melanie", "Melina", "Bob", "Robert")
LAST = ("Smith", "Smyth", "Smit", "Meyer", "Meier", "Mayer")
KINDS = ("Harbour", "Castle", "Garden", "River", "Market", "Summer", "Winter", "Royal", "Old")
SHARED_NAMES = (
    "I met {first} {last} in {city}.",
    "I met {first} {last} at the {kind} {other} Center.",
    "I go to the {kind} Road Fitness Center with {first}.",
    "{first} {last} works at the {kind} Center.",
    "{first} {last} lives in {city}.",
    "{first} moved to {city}.",
    "Juju and {first} came along.",
    "I moved to {city}.",
    "I no longer live in {city}.",
    "My favourite city is {city}.",
)


@pytest.mark.parametrize("seed", slow_except([0], range(12)))
def test_an_erasure_among_names_that_are_alike_equals_deriving_again(
    home: Home, traced_only: None, seed: int
) -> None:
    """Persons and places whose names share words and sounds; some persons are merged and parted."""
    draw = random.Random(seed)
    home.tell(say("Hello all.", "m0", by=NAMES[0]))
    n = 0
    for _ in range(4):
        for _ in range(30):
            n += 1
            at = START + n * DAY // 3
            people = [e for (e,) in home.rows("identity", PEOPLE)]
            made = home.rows("identity", "SELECT merge_id FROM merges_by_command ORDER BY 1")
            chance = draw.random()
            if chance < 0.06 and len(people) > 1:
                one, other = draw.sample(people, 2)
                merge = ProposeMerge(
                    source_id=f"p{n}", entity_a=one, entity_b=other, confidence=0.95, reason="seen"
                )
                home.publish(command(merge, at))
            elif chance < 0.09 and made:
                undo = UndoMerge(source_id=f"u{n}", merge_id=draw.choice(made)[0])
                home.publish(command(undo, at))
            else:
                text = draw.choice(SHARED_NAMES).format(
                    first=draw.choice(FIRST),
                    last=draw.choice(LAST),
                    kind=draw.choice(KINDS),
                    other=draw.choice(KINDS),
                    city=draw.choice(CITIES),
                )
                by = draw.choice(NAMES[:2])
                told = say(text, f"m{n}", by=by, thread=f"t{n // 5}", at=at, ingested_at=START + n)
                home.publish(told)
            home.drive()
        head = home.ledger.head(ZONE).number
        home.tell(forget(*draw.sample(range(1, head + 1), draw.choice((1, 1, 3))), at=START + n))
        agree(home)
    assert verify(home.node, ZONE).ok


def test_a_name_that_only_shares_words_with_others_leaves_them_alone(
    home: Home, traced_only: None, decided: list[int]
) -> None:
    """Every name is compared with the first one, and found to be another's."""
    surnames = ("Castle", "Garden", "Rivers", "Market", "Summer", "Winter", "Royal", "Olsen")
    for n, surname in enumerate(surnames):
        text = f"I met Peter {surname}."
        home.publish(say(text, f"m{n}", thread=f"t{n}", by=NAMES[n % 4], at=START + n * DAY))
    home.drive()
    names = home.rows("identity", "SELECT count(*) FROM name_keys GROUP BY key ORDER BY 1")
    assert names[-1] == (len(surnames),)
    home.tell(forget(1))
    # The next message of the same sender, who comes into being there now.
    assert decided == [5]
    agree(home)


def _meet_peters(home: Home, names: Iterable[str]) -> None:
    """Tell of one person after the other; the first is told by somebody else."""
    for n, name in enumerate(names):
        by, at = NAMES[n > 0], START + n * DAY
        text = f"I met {name} at work."
        home.publish(say(text, f"m{n}", by=by, thread=f"t{n}", at=at, ingested_at=at))
    home.drive()


def _peters() -> list[str]:
    """Return more persons with a first name than a name is compared with, in order of their ids."""
    surnames = (
        "Baker Carver Dyer Evans Fisher Glover Hunter Irwin Joiner King Lawson Mason Norton "
        "Olsen Potter Quill Rivers Summer Tailor Underhill Vance Weaver Xavier Young Zeller"
    )
    names = (f"Peter {surname}" for surname in surnames.split())
    return sorted(names, key=lambda name: entity_id("person", normalise_name(name), 0))


def _is_proposed(home: Home, name: str) -> bool:
    id_ = entity_id("person", normalise_name(name), 0)
    return (id_,) in home.rows("identity", "SELECT entity_a_id FROM merge_candidates")


def test_which_of_too_many_names_are_compared_does_not_depend_on_who_came_first(
    home: Home, traced_only: None
) -> None:
    """A name is told first and again last; without its first mention, it is the newest name."""
    first, *others = _peters()
    _meet_peters(home, (first, *others, first, first[: len("Peter A")]))
    assert _is_proposed(home, first)
    home.tell(forget(1))
    agree(home)


def test_a_name_takes_the_place_of_one_that_is_forgotten_among_too_many(
    home: Home, traced_only: None
) -> None:
    *others, last = _peters()
    _meet_peters(home, (*others, last, last[: len("Peter A")]))
    assert not _is_proposed(home, last)
    home.tell(forget(5, 6, 7))
    assert _is_proposed(home, last)
    agree(home)


def test_a_value_that_took_the_place_of_a_forgotten_one(
    home: Home, traced_only: None, decided: list[int]
) -> None:
    """The values are months apart, in threads of their own, and connected by nothing else."""
    home.tell(say("Hello all.", "0", thread="t0"))
    cities = ("Oslo", "Lima", "Turin", "Bonn")
    for n, city in enumerate(cities, start=1):
        text = f"I live in {city}."
        home.tell(say(text, str(n), thread=f"t{n}", at=START + 50 * n * DAY))
    ends = "SELECT superseded_by IS NOT NULL FROM facts LEFT JOIN fact_ends ON fact_id = id"
    assert home.rows("memory", f"{ends} ORDER BY as_of") == [(1,), (1,), (1,), (0,)]
    home.tell(forget(2))
    assert home.rows("memory", f"{ends} ORDER BY as_of") == [(1,), (1,), (0,)]
    agree(home)


def test_a_long_thread_of_one_person_is_not_read_again(
    home: Home,
    traced_only: None,
    decided: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All messages are in one thread and about one person, and few are close to the erased one."""
    home.publish(
        *(say(f"I keep {n} bees.", f"m{n}", at=START + n * DAY, thread="t") for n in range(200))
    )
    home.drive()
    read: set[int] = set()
    unseal = dependencies.DependencyIndex._unseal_parts

    def noted(self: dependencies.DependencyIndex, number: int) -> object:
        read.add(number)
        return unseal(self, number)

    monkeypatch.setattr(dependencies.DependencyIndex, "_unseal_parts", noted)
    home.tell(forget(50))
    assert decided
    assert len(read) < 60, f"{len(read)} of 200 decisions were read to repeat {len(decided)}"
    agree(home)


def test_rows_that_a_repeated_decision_writes_as_before_are_not_looked_up(
    home: Home, traced_only: None, decided: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most rows of the next messages are as before; a few, such as episodes, are not."""
    text = "I met {} in Oslo. I met {} in Lima. I met {} in Turin. I met {} in Bonn."
    home.publish(*(say(text.format(*NAMES), f"m{n}", at=START + n * MINUTE) for n in range(20)))
    home.drive()
    looked_up: list[object] = []
    written: list[object] = []
    last_written, difference = (
        redeciding.Redecision._last_written,
        redeciding.Redecision._difference,
    )

    def noted(self: redeciding.Redecision, key: object, search: object) -> object:
        looked_up.append(key)
        return last_written(self, key, search)  # type: ignore[arg-type]

    def counted(self: redeciding.Redecision) -> object:
        parts = difference(self)
        written.extend(row for part in parts for row in (*part.puts, *part.deletes))
        return parts

    monkeypatch.setattr(redeciding.Redecision, "_last_written", noted)
    monkeypatch.setattr(redeciding.Redecision, "_difference", counted)
    home.tell(forget(1))
    assert decided
    assert len(looked_up) <= len(written)
    agree(home)


def test_a_conversation_is_read_back_only_to_the_last_message_that_is_needed(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.publish(*(say(f"I keep {n} bees.", f"m{n}", thread="t") for n in range(30)))
    home.drive()
    read: list[int] = []
    event_of = event_queries._event

    def noted(row: tuple[int, ...]) -> Event:
        read.append(row[0])
        return event_of(row)

    monkeypatch.setattr(event_queries, "_event", noted)
    with home.node.open(ZONE, home.node.current(ZONE)) as files:
        last = event_queries.event_by_number(files.events.connection, 30)
        assert last is not None
        conversation = LedgerConversation(files.events.connection, {*range(1, 20), 28})
        before = conversation.preceding(last, 3)
    assert [event.number for event in before] == [29, 27, 26]
    assert read == [30, 29, 28, 27, 26]


def test_a_repeat_takes_the_place_of_what_it_repeated(
    home: Home, traced_only: None, decided: list[int]
) -> None:
    home.tell(
        say("I like green tea.", "1"),
        say("My bicycle is blue.", "2"),
        say("I like green tea.", "3"),
        say("We painted the kitchen red.", "4", at=START + DAY),
    )
    home.tell(forget(1))
    assert home.facts() == [
        (2, "Ada's bicycle is blue."),
        (3, "Ada likes green tea."),
        (4, "Ada and others painted the kitchen red."),
    ]
    assert 4 not in decided
    agree(home)


def test_what_was_made_again_is_made_again_by_a_later_erasure(
    home: Home, traced_only: None
) -> None:
    for n in range(1, 7):
        home.tell(say("I like green tea.", str(n), at=START + n))
    for n in range(1, 6):
        home.tell(forget(n, at=START + 100 + n))
        assert home.facts() == [(n + 1, "Ada likes green tea.")]
        agree(home)


def test_the_same_event_forgotten_twice(home: Home, traced_only: None) -> None:
    home.tell(say("I moved to Oslo.", "1"), say("I moved to Lima.", "2"))
    home.tell(forget(1), forget(1, at=START + 1), forget(1, 2, at=START + 2))
    assert list(home.facts()) == []
    agree(home)


def test_a_turn_that_lost_a_message_or_its_end(home: Home, traced_only: None) -> None:
    home.tell(
        say("I like green tea.", "1", turn="T"),
        say("I moved to Oslo.", "2", turn="T"),
        complete("T", "3"),
        say("I moved to Lima.", "4", turn="T"),
    )
    home.tell(forget(1))
    assert home.facts() == [(2, "Ada moved to Oslo."), (4, "Ada moved to Lima.")]
    agree(home)
    home.tell(forget(3))
    assert list(home.facts()) == []
    agree(home)


def test_erasures_of_a_generation_that_was_derived_again_are_followed_too(
    home: Home, traced_only: None
) -> None:
    for n in range(1, 9):
        home.tell(say(f"I moved to {CITIES[n % 4]}.", str(n), at=START + n * DAY))
    rebuild(home.node, ZONE, "derive")
    home.tell(forget(2, at=START + DAY))
    agree(home)
    rebuild(home.node, ZONE, "project")
    home.tell(forget(4, at=START + 2 * DAY))
    agree(home)
    assert verify(home.node, ZONE).ok


def test_a_kept_generation_of_another_chain_is_brought_up_to_an_erasure(
    home: Home, traced_only: None
) -> None:
    for n in range(1, 9):
        home.tell(say(f"I moved to {CITIES[n % 4]}.", str(n), at=START + n * DAY))
    rebuild(home.node, ZONE, "derive")
    home.tell(forget(2, at=START + DAY))
    ours = agree(home)
    rollback(home.node, ZONE)
    with home.files() as files:
        assert hashes_of(files) == ours == projected(home)
    home.tell(forget(4, at=START + 2 * DAY))
    agree(home)
    assert verify(home.node, ZONE).ok


def test_a_kept_generation_that_was_not_asked_in_time_is_derived_in_full(home: Home) -> None:
    for n in range(1, 9):
        home.tell(say(f"I moved to {CITIES[n % 4]}.", str(n), at=START + n * DAY))
    rebuild(home.node, ZONE, "derive")
    with exclusive(home.node.zone(ZONE).path / "rebuild.lock"):
        # Whoever rebuilds has the other generations.
        home.tell(forget(2, at=START + DAY))
    ours = agree(home)
    rollback(home.node, ZONE)
    assert agree(home) == ours
    home.tell(forget(4, at=START + 2 * DAY))
    agree(home)
    assert verify(home.node, ZONE).ok


def test_a_file_that_fell_back_does_not_say_what_another_still_holds(
    make_home: MakeHome, room: Path
) -> None:
    """Another chain has ended the key; memory.db lost its last commits, identity.db did not."""
    home = make_home("home")
    home.tell(say("I like green tea.", "1"))
    with home.files() as files:
        path = files.memory.path
        assert files.memory.purge()
    home.close()
    before = path.read_bytes()
    home.open()
    home.tell(say("I met Quorvane Zelt in Oslo.", "2"), say("My car is red.", "3"))
    with home.files() as files:
        assert files.memory.purge()
        (sealed,) = sources(files.events.connection, [2]).values()
    home.publish(forget(2))
    home.ledger.keys.destroy([sealed.key_id])
    home.close()
    path.write_bytes(before)
    home.open()
    home.drive()
    names = [name for (name,) in home.rows("identity", "SELECT name FROM entities")]
    assert "Quorvane Zelt" not in names
    assert files_holding(room, b"Quorvane") == []
    agree(home)


def test_a_zone_that_was_decided_before_decisions_were_traced(home: Home) -> None:
    home.tell(say("I like green tea.", "1"), say("I like green tea.", "2"), say("Hi Bob.", "3"))
    with home.files() as files:
        files.memory.connection.execute("UPDATE conclusions SET traced = 0 WHERE number = 2")
    home.tell(forget(1))
    assert home.facts() == [(2, "Ada likes green tea.")]
    agree(home)
    home.tell(say("I like green tea.", "5"), forget(2, at=START + 1))
    assert home.facts() == [(5, "Ada likes green tea.")]
    agree(home)


@pytest.mark.parametrize("seed", slow_except([0], range(12)))
def test_an_erasure_among_merged_persons_equals_deriving_again(
    home: Home, traced_only: None, seed: int
) -> None:
    """Fault 48: three accounts move house, are merged and parted, and messages are forgotten."""
    draw = random.Random(seed)
    names = ("Ada", "Bob", "Cem")
    home.tell(*(say("Hello all.", name, by=name) for name in names))
    merged = 0
    for n in range(60):
        chance = draw.random()
        at = START + n * MINUTE
        who = draw.randrange(3)
        people = [e for (e,) in home.rows("identity", PEOPLE)]
        made = home.rows("identity", "SELECT merge_id FROM merges_by_command ORDER BY 1")
        if chance < 0.2 and len(people) > 1:
            one, other = draw.sample(people, 2)
            payload: ProposeMerge | UndoMerge = ProposeMerge(
                source_id=f"p{n}", entity_a=one, entity_b=other, confidence=0.95, reason="seen"
            )
            home.tell(command(payload, at))
        elif chance < 0.3 and made:
            payload = UndoMerge(source_id=f"u{n}", merge_id=draw.choice(made)[0])
            home.tell(command(payload, at))
        elif chance < 0.4:
            head = home.ledger.head(ZONE).number
            home.tell(forget(*draw.sample(range(1, head + 1), min(head, 2)), at=at))
            agree(home)
        else:
            text = draw.choice(("I live in {}.", "I moved to {}.", "I like {}.", "I hate {}."))
            said_at = START + draw.randrange(5) * DAY
            home.tell(
                say(
                    text.format(draw.choice(CITIES)),
                    f"m{n}",
                    by=names[who],
                    thread=f"t{who}",
                    at=said_at,
                )
            )
        merged += len(home.rows("memory", "SELECT 1 FROM merged_supersessions WHERE is_standing"))
    agree(home)
    assert merged
    assert verify(home.node, ZONE).ok
