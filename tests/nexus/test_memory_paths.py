"""Stored memories by their virtual paths, compared with every path written out by hand."""

from __future__ import annotations

import fnmatch
import itertools
import random
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from recollect import InvalidInput, MemoryInput, Recollect, UnknownId, paginate
from recollect.library.library_zone import Zone
from tests.service.kit import Served, served
from tests.slow_parameters import slow_except

DRINK = MemoryInput(
    content="Ada prefers tea.",
    user_id="ada",
    agent_id="bot",
    namespace="/people/ada",
    path_key="drink",
)
#: Every path of it in the zone acme.
DRINK_PATHS = [
    f"{directory}/people/ada/drink"
    for directory in (
        *("/memory/by-user/ada", "/memory/by-agent/bot"),
        *("/workspace/ada/bot/memory", "/workspace/bot/ada/memory"),
        *("/workspace/acme/ada/bot/memory", "/workspace/acme/bot/ada/memory"),
        *("/workspace/ada/memory", "/workspace/bot/memory"),
        *("/workspace/acme/ada/memory", "/workspace/acme/bot/memory", "/workspace/acme/memory"),
    )
]


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        yield recollect.zone("acme")


def store(zone: Zone, memory: MemoryInput) -> str:
    (receipt,) = zone.store_memories([memory])
    return receipt.event_id


def ls(zone: Zone, path: str, limit: int = 1_000) -> list[str]:
    return [entry.path for entry in paginate(zone.list_paths, path, limit=None)][:limit]


def walked(zone: Zone, path: str = "/") -> Iterator[tuple[str, str]]:
    """Yield (path, memory id) of every file below a directory, by listing each directory."""
    for entry in paginate(zone.list_paths, path):
        if entry.is_directory:
            yield from walked(zone, entry.path)
        else:
            assert entry.memory_id is not None
            yield entry.path, entry.memory_id


@pytest.mark.parametrize("path", DRINK_PATHS)
def test_every_path_of_a_memory_reads_it(zone: Zone, path: str) -> None:
    id_ = store(zone, DRINK)
    assert zone.read_path(path).memory_id == id_
    assert zone.read_path(f"/objs/memory/{id_}").memory_id == id_
    with pytest.raises(UnknownId):
        zone.read_path(path.replace("drink", "food"))


def test_listing_every_directory_finds_every_path(zone: Zone) -> None:
    id_ = store(zone, DRINK)
    expected = {(path, id_) for path in (*DRINK_PATHS, f"/objs/memory/{id_}")}
    assert set(walked(zone)) == expected
    assert ls(zone, "/") == ["/memory/", "/objs/", "/workspace/"]
    assert ls(zone, "/memory/by-user/ada/people") == ["/memory/by-user/ada/people/ada/"]
    assert ls(zone, "/nothing") == []


def test_a_path_reads_the_current_version(zone: Zone) -> None:
    first = store(zone, DRINK)
    plain = store(zone, MemoryInput(content="A note.", user_id="ada"))
    changed = zone.update_memory(plain, "A new note.").id
    second = store(
        zone,
        MemoryInput(
            content="Ada prefers coffee.",
            **{
                name: getattr(DRINK, name)
                for name in ("user_id", "agent_id", "namespace", "path_key")
            },
        ),
    )
    assert zone.read_path(DRINK_PATHS[0]).memory_id == second
    assert zone.read_path(f"/objs/memory/{first}").superseded_by_id == second
    # Without a path key, the first version names the file.
    assert zone.read_path(f"/memory/by-user/ada/{plain}").memory_id == changed
    zone.set_memory_state([second], "inactive")
    assert ls(zone, "/memory/by-agent") == []
    with pytest.raises(UnknownId):
        zone.read_path(DRINK_PATHS[0])


NAMES = ("ada", "bot", "acme", "memory", "a*b", "x/y", "50%", "..", "Zoë K.")


def memories_at_random(seed: int) -> list[MemoryInput]:
    rng = random.Random(seed)

    def maybe(values: tuple[str, ...]) -> str | None:
        return rng.choice((None, *values))

    return [
        MemoryInput(
            content=f"Number {n}.",
            user_id=maybe(NAMES),
            agent_id=maybe(NAMES),
            namespace=maybe(("/", "people", "/people/ada/", "a//b", "/..", "memory", "/x?/y")),
            path_key=f"{rng.choice(NAMES)}{n}" if rng.random() < 0.7 else None,
        )
        for n in range(12)
    ]


def written_out(zone: Zone) -> dict[str, str]:
    """Return every path of every memory, from the attributes of the memories alone."""
    found = {}
    for memory in paginate(zone.query_memories):
        names = [each for each in (memory.namespace or "").split("/") if each]
        file = "/".join(encoded(each) for each in (*names, memory.path_key or memory.first_id))
        owners = [encoded(each) for each in (memory.user_id, memory.agent_id) if each is not None]
        for count in range(len(owners) + 1):
            for some in itertools.permutations(owners, count):
                found["/".join(("/workspace/acme", *some, "memory", file))] = memory.memory_id
                if some:
                    found["/".join(("/workspace", *some, "memory", file))] = memory.memory_id
        for kind, owner in (("user", memory.user_id), ("agent", memory.agent_id)):
            if owner is not None:
                found[f"/memory/by-{kind}/{encoded(owner)}/{file}"] = memory.memory_id
        found[f"/objs/memory/{memory.memory_id}"] = memory.memory_id
    return found


def encoded(name: str) -> str:
    if name in (".", ".."):
        return name.replace(".", "%2E")
    for character in "%/*?":
        name = name.replace(character, f"%{ord(character):02X}")
    return name


@pytest.mark.parametrize("seed", slow_except([1], range(1, 8)))
def test_awkward_names_are_found_by_every_operation(zone: Zone, seed: int) -> None:
    zone.store_memories(memories_at_random(seed))
    expected = written_out(zone)
    assert dict(walked(zone)) == expected
    for path, id_ in expected.items():
        assert zone.read_path(path).memory_id == id_, path
    for pattern in (
        *("/**", "/memory/**", "/memory/by-user/*/*", "/workspace/**/ada/**", "/*/*/*"),
        *("/workspace/acme/*/memory/**", "/**/people/**", "/memory/by-*/a%2Ab/**", "/**/*1?"),
        *("/workspace/*/memory/*%2F*", "/**/??*5", "/objs/**", "/nothing/**"),
    ):
        hits = {path for path in expected if matches(pattern.split("/"), path.split("/"))}
        found = list(paginate(zone.glob_paths, pattern))
        assert {each.path for each in found} <= hits, pattern
        ids = [each.memory_id for each in found]
        assert sorted(map(str, ids)) == sorted({expected[path] for path in hits}), pattern


def matches(pattern: list[str], path: list[str]) -> bool:
    if not pattern or not path:
        return pattern == path or pattern == ["**"]
    if pattern[0] == "**":
        return matches(pattern[1:], path) or matches(pattern, path[1:])
    return fnmatch.fnmatchcase(path[0], pattern[0]) and matches(pattern[1:], path[1:])


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_pages_follow_each_other(zone: Zone, limit: int) -> None:
    zone.store_memories(memories_at_random(1))
    for method, path in ((zone.list_paths, "/workspace/acme/memory"), (zone.glob_paths, "/**")):
        whole = method(path).entries
        entries, cursor = [], None
        while True:
            page = method(path, limit=limit, cursor=cursor)
            entries += page.entries
            assert len(page) == limit or page.cursor is None
            if (cursor := page.cursor) is None:
                break
        assert entries == whole
        assert len(whole) > 3


def test_what_may_not_be_read_has_no_path(zone: Zone) -> None:
    ada, bob = zone.acting_as(user="ada"), zone.acting_as(user="bob")
    secret = store(ada, MemoryInput(content="A.", scope="user", namespace="/a/b", path_key="k"))
    before = list(walked(bob))
    assert before == []
    own = store(bob, MemoryInput(content="B.", scope="user", namespace="/a", path_key="k"))
    assert {id_ for _, id_ in walked(bob)} == {own}
    assert ls(bob, "/workspace") == ["/workspace/acme/", "/workspace/bob/"]
    for pattern in ("/**", "/memory/by-user/ada/**", "/workspace/ada/**", f"/objs/memory/{secret}"):
        assert secret not in {each.memory_id for each in bob.glob_paths(pattern)}
    errors = set()
    for path in ("/memory/by-user/ada/a/b/k", "/memory/by-user/eve/a/b/k"):
        with pytest.raises(UnknownId) as caught:
            bob.read_path(path)
        errors.add(str(caught.value).replace("eve", "ada"))
    assert len(errors) == 1
    assert zone.read_path("/memory/by-user/ada/a/b/k").memory_id == secret


@pytest.mark.parametrize("path", ["memory/by-user", "", "/" + "x" * 9_000])
def test_what_is_no_path_is_refused(zone: Zone, path: str) -> None:
    store(zone, DRINK)
    for method in (zone.list_paths, zone.glob_paths, zone.read_path):
        with pytest.raises(InvalidInput, match="path"):
            method(path)


def test_many_wildcards_take_no_time(zone: Zone) -> None:
    store(zone, MemoryInput(content="A.", path_key="a" * 250))
    assert not zone.glob_paths("/**/" + "*a" * 200 + "*b").entries
    assert len(zone.glob_paths("/**" * 200 + "/" + "*a" * 200)) == 1


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(Path(tmp_path_factory.mktemp("paths")) / "home") as found:
        yield found


def test_the_seeds_paths_are_urls(service: Served) -> None:
    with service.client("acme", user="ada", agent="bot") as ada:
        body = {"content": "Tea.", "namespace": "/p q", "path_key": "x/y"}
        id_ = ada.post("/api/memory/store", json=body).json()["memory_id"]
        file = "p%20q/x%2Fy"
        for path in (
            *(f"/objs/memory/{id_}", f"/memory/by-user/ada/{file}"),
            *(f"/memory/by-agent/bot/{file}", f"/workspace/acme/ada/bot/memory/{file}"),
            f"/workspace/bot/ada/memory/{file}",
        ):
            found = ada.get(path)
            assert (found.status_code, found.json()["memory_id"]) == (200, id_), path
        listed = ada.get("/memory/by-user/ada/p%20q/", params={"limit": 5}).json()
        assert [each["path"] for each in listed["entries"]] == ["/memory/by-user/ada/p q/x%2Fy"]
        assert ada.get("/memory/by-user/ada/p%20q/", params={"state": "any"}).status_code == 400
        assert ada.get("/memory/by-user/ada/none").status_code == 404
    with service.client("acme", user="bob") as bob:
        hidden, unknown = bob.get(f"/memory/by-user/ada/{file}"), bob.get("/memory/by-user/eve/x")
        assert hidden.status_code == unknown.status_code == 404
        assert bob.get("/workspace/").json()["entries"] == []
        assert bob.get(f"/v1/zones/acme/paths/read?path={quote(f'/objs/memory/{id_}')}").is_error
    with service.bare() as nobody:
        assert nobody.get(f"/memory/by-user/ada/{file}").status_code == 401
