"""Versions of a message that were parked and retried: the newest one stands, whenever decided."""

from __future__ import annotations

import random
from collections.abc import Callable

import msgspec
import pytest

from recollect.schemas.events import Deletion, Draft, Edit, Message, Retry
from recollect.streams.agents import AGENTS
from tests.protocol.kit import MINUTE, START, Home, Poisoned, Switch, agree, command, forget, say
from tests.slow_parameters import slow_except

MakeHome = Callable[..., Home]

CITIES = ("Oslo", "Lima", "Turin", "Bonn", "Graz", "Lyon")


def text_of(city: str, is_bad: bool = False) -> str:
    return f"I live in {city}." + " (bad)" * is_bad


def edit(id: str, city: str, minute: int, *, is_bad: bool = False) -> Draft:
    return _revision(id, text_of(city, is_bad), minute, Edit)


def deletion(id: str, minute: int) -> Draft:
    return _revision(id, "", minute, Deletion)


def _revision(id: str, text: str, minute: int, kind: type[Edit] | type[Deletion]) -> Draft:
    said = say(text, id, at=START + minute * MINUTE)
    assert isinstance(said.payload, Message)
    fields = {name: getattr(said.payload, name) for name in said.payload.__struct_fields__}
    if kind is Deletion:
        del fields["revised_at"]
    return msgspec.structs.replace(said, payload=kind(**fields, target="m"))


def retry(number: int, times: int = 0) -> Draft:
    return command(Retry(source_id=f"retry:{number}:{times}", number=number))


def expected(versions: list[Draft]) -> list[str]:
    """Return the current facts of a message, from its versions in the order of the ledger."""
    if any(isinstance(one.payload, Deletion) for one in versions):
        return []
    newest = max(
        enumerate(versions),
        key=lambda one: (isinstance(one[1].payload, Edit), one[1].occurred_at, one[0]),
        default=None,
    )
    if newest is None:
        return []
    assert isinstance(newest[1].payload, Message | Edit)
    city = newest[1].payload.content.split()[3].rstrip(".")
    return [f"Ada lives in {city}."]


def test_a_retried_older_edit_becomes_a_former_version(make_home: MakeHome) -> None:
    switch = Switch()
    home = make_home("home", (*AGENTS, Poisoned("bad", switch)))
    home.tell(say(text_of("Oslo"), "m"))
    home.tell(edit("e1", "Lima", 1, is_bad=True), edit("e2", "Turin", 2))
    assert home.current_facts() == ["Ada lives in Turin."]
    switch.on = False
    home.tell(retry(2))
    assert home.letters()[0][3] == "retried"
    assert home.current_facts() == ["Ada lives in Turin."]
    agree(home)


def test_a_retried_edit_of_a_deleted_message_stays_deleted(make_home: MakeHome) -> None:
    switch = Switch()
    home = make_home("home", (*AGENTS, Poisoned("bad", switch)))
    home.tell(say(text_of("Oslo"), "m"))
    home.tell(edit("e1", "Lima", 1, is_bad=True), deletion("d", 2))
    switch.on = False
    home.tell(retry(2))
    assert home.current_facts() == []
    agree(home)


@pytest.mark.parametrize("seed", slow_except(range(4), range(40)))
def test_the_newest_version_stands_after_retries_in_any_order(
    make_home: MakeHome, seed: int
) -> None:
    draw = random.Random(seed)
    switch = Switch()
    where = draw.choice(("extract", "resolve"))
    home = make_home("home", (*AGENTS, Poisoned("bad", switch, where=where)))
    cities = draw.sample(CITIES, 5)
    versions = [say(text_of(cities[0], draw.random() < 0.3), "m")]
    for place, city in enumerate(cities[1:], 1):
        minute = draw.randrange(1, 4)
        if draw.random() < 0.08:
            versions.append(deletion(f"v{place}", minute))
        else:
            versions.append(edit(f"v{place}", city, minute, is_bad=draw.random() < 0.5))
    if draw.random() < 0.3:
        draw.shuffle(versions)
    for version in versions:
        home.tell(version)
    parked = [number for number, *_ in home.letters()]
    draw.shuffle(parked)
    if parked and draw.random() < 0.3:
        home.tell(retry(parked[0]))
    switch.on = False
    home.tell(*(retry(number, 1) for number in parked))
    assert home.current_facts() == expected(versions)
    agree(home)
    erased = draw.sample(range(1, len(versions) + 1), draw.randrange(1, 4))
    for number in erased:
        home.tell(forget(number))
        left = [one for place, one in enumerate(versions, 1) if place not in erased]
        if number == erased[-1]:
            assert home.current_facts() == expected(left)
        agree(home)
