"""Mem0's own client, pointed at the service; and what a token may not do there."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from litestar import Litestar
from litestar.routes import HTTPRoute

from recollect.compat.mem0 import Memory
from recollect.home.access_tokens import AccessTokens
from recollect.integrations.mem0.mem0_routes import ROUTER
from tests.integrations.mem0_package import (
    AsyncMemoryClient,
    AuthenticationError,
    MemoryClient,
    MemoryNotFoundError,
    ValidationError,
)
from tests.library.kit import said
from tests.service.kit import EVERYTHING, Served

ADA = {"user_id": "ada"}


GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "clients.md").read_text()


#: What the paths of the other facades have in them.
_OF_OTHERS = ("/objs/", "/workspace/", "/memory/by-", "/default/", "/api/memory", "/api/v2/")


def test_the_guide_names_every_path_and_its_right() -> None:
    told = re.findall(r"^\| `([A-Z]+) (/[^`]*?)/?` \| (\w*) ?\|", GUIDE, re.MULTILINE)
    ours = {
        (method, re.sub(r"\{(\w+):str\}", "{}", route.path).rstrip("/")): handler.opt["right"]
        for route in Litestar([ROUTER], openapi_config=None).routes
        if isinstance(route, HTTPRoute)
        for handler in route.route_handlers
        for method in handler.http_methods & {"GET", "PUT", "POST", "DELETE"}
    }
    named = {
        (method, re.sub(r"\{\w+\}", "{}", path)): right
        for method, path, right in told
        if not any(place in path for place in _OF_OTHERS)
    }
    assert named == {key: "" if "ping" in key[1] else right for key, right in ours.items()}


def token(service: Served, *zones: str, rights: tuple[str, ...] = EVERYTHING) -> str:
    return AccessTokens(service.home).create(zones, rights).token


@pytest.fixture
def client(service: Served, request: pytest.FixtureRequest) -> Iterator[MemoryClient]:
    """Their client with the token of a new zone."""
    zone = f"m{abs(hash(request.node.name)) % 10**9}"
    made = MemoryClient(api_key=token(service, zone), host=service.url)
    yield made
    made.client.close()


def test_every_method_of_the_client(client: MemoryClient) -> None:
    assert client.get_all(filters=ADA)["results"] == []
    assert client.users()["results"] == []
    added = client.add(
        [
            {"role": "user", "content": "I live in Turin."},
            {"role": "assistant", "content": "Noted."},
        ],
        user_id="ada",
        run_id="r1",
        metadata={"topic": "home"},
    )
    assert added["status"] == "SUCCEEDED"
    assert {one["memory"] for one in added["results"]} == {"Ada lives in Turin.", "Noted."}
    client.add("The key is under the mat.", user_id="bob", infer=False, timestamp=1_770_000_000)
    event = client.client.get(f"/v1/event/{added['event_id']}/").json()
    assert event["results"] == added["results"]

    (fact,) = (one for one in added["results"] if "Turin" in one["memory"])
    assert client.get(fact["id"])["metadata"] == {"topic": "home"}
    found = client.search("Where does Ada live? Turin", filters={"AND": [ADA, {"run_id": "*"}]})
    assert "Turin" in found["results"][0]["memory"]
    assert "mat" not in str(found)
    (bobs,) = client.search("key under the mat", filters={"user_id": "bob"}, top_k=1)["results"]
    assert bobs["created_at"].startswith("2026-02-02")

    page = client.get_all(filters=ADA, page=1, page_size=1)
    assert (page["count"], len(page["results"]), page["previous"]) == (2, 1, None)
    assert "page=2" in page["next"]
    last = client.get_all(filters=ADA, page=2, page_size=1)
    assert last["next"] is None
    assert {page["results"][0]["id"], last["results"][0]["id"]} == {
        one["id"] for one in added["results"]
    }

    client.update(fact["id"], text="I live in Oslo.", metadata={"sure": True})
    assert client.get(fact["id"])["memory"] == "I live in Oslo."
    assert [one["event"] for one in client.history(fact["id"])] == ["ADD", "UPDATE"]
    client.batch_update([{"memory_id": bobs["id"], "text": "The key is in the shed."}])
    assert client.get(bobs["id"])["memory"] == "The key is in the shed."
    people = {(one["type"], one["name"]): one for one in client.users()["results"]}
    assert set(people) == {("user", "ada"), ("user", "bob"), ("run", "r1")}
    assert people["user", "ada"]["total_memories"] == 2

    client.batch_delete([{"memory_id": bobs["id"]}])
    with pytest.raises(MemoryNotFoundError):
        client.get(bobs["id"])
    client.delete(fact["id"])
    assert len(client.get_all(filters=ADA)["results"]) == 1
    client.delete_all(user_id="ada")
    assert client.get_all(filters=ADA)["count"] == 0
    client.add("I am Zoe.", user_id="zoe", infer=False)
    client.delete_users(user_id="zoe")
    client.add("I am Zoe.", user_id="zoe", run_id="r9", infer=False)
    client.reset()
    assert client.users()["results"] == []


def test_a_text_that_was_added_again_is_counted_once(client: MemoryClient) -> None:
    for text in ("I own a boat.", "hello world", "hello world", "I own a boat."):
        client.add(text, user_id="ada")
    client.add("hello world", user_id="bob")
    listed = {name: client.get_all(filters={"user_id": name})["count"] for name in ("ada", "bob")}
    counted = {one["name"]: one["total_memories"] for one in client.users()["results"]}
    assert counted == listed
    assert listed["ada"] < 4
    client.reset()


def test_fault_1_and_2_one_memory_of_several_is_changed(
    client: MemoryClient, service: Served
) -> None:
    said = "I live in Turin. My favourite tea is oolong. The harbour smells of herring."
    added = client.add(said, user_id="ada")["results"]
    ids = {
        word: one["id"]
        for word in ("Turin", "oolong", "herring")
        for one in added
        if word in one["memory"]
    }
    client.delete(ids["oolong"])
    client.update(ids["Turin"], text="I live in Oslo.")
    client.update(ids["herring"], metadata={"seen": True})
    listed = {one["memory"]: one for one in client.get_all(filters=ADA)["results"]}
    assert set(listed) == {"I live in Oslo.", "ada: The harbour smells of herring."}
    assert listed["ada: The harbour smells of herring."]["metadata"] == {"seen": True}
    assert [one["event"] for one in client.history(ids["oolong"])] == ["ADD", "DELETE"]
    with pytest.raises(MemoryNotFoundError):
        client.update(ids["oolong"], text="x")
    client.batch_delete([{"memory_id": ids["herring"]}, {"memory_id": ids["Turin"]}])
    assert client.get_all(filters=ADA)["results"] == []
    assert [one["total_memories"] for one in client.users()["results"]] == [0]
    client.reset()
    assert client.users()["results"] == []


def test_delete_all_reads_filters_as_the_client_writes_them(client: MemoryClient) -> None:
    for user in ("ada", "bob"):
        client.add(f"I am {user}.", user_id=user, infer=False)
    client.delete_all(filters={"user_id": "ada"})
    assert [one["name"] for one in client.users()["results"]] == ["bob"]


def test_delete_all_with_every_id_a_wildcard_erases_everything(client: MemoryClient) -> None:
    client.add("I am Ada.", user_id="ada", infer=False)
    client.add("I am a helper.", agent_id="helper", run_id="r1", infer=False)
    client.delete_all(user_id="*", agent_id="*", app_id="*", run_id="*")
    assert client.users()["results"] == []


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/v1/events/"), ("DELETE", "/v1/entities/user/1/")]
)
def test_what_is_not_served_answers_501(client: MemoryClient, method: str, path: str) -> None:
    answer = client.client.request(method, path)
    assert answer.status_code == 501
    assert answer.json()["type"] == "urn:recollect:problem:not-served"


def test_the_async_client(service: Served) -> None:
    async def live() -> None:
        async with AsyncMemoryClient(api_key=token(service, "async"), host=service.url) as client:
            added = await client.add("I live in Turin.", user_id="ada", infer=False)
            found = await client.search("Turin", filters=ADA)
            assert [one["id"] for one in found["results"]] == [added["results"][0]["id"]]
            await client.delete_all(user_id="ada")

    asyncio.run(live())


def test_memory_of_ours_on_the_service(service: Served) -> None:
    with Memory(service.url, zone="ours", token=token(service, "ours", "other")) as memory:
        added = memory.add("I live in Turin.", user_id="ada", metadata={"n": 1})
        (one,) = added["results"]
        assert one["memory"] == "Ada lives in Turin."
        assert memory.search("Turin", filters={**ADA, "n": {"gte": 1}}, threshold=0)["results"]
        memory.update(one["id"], "I live in Oslo.")
        assert memory.get(one["id"])["memory"] == "I live in Oslo."  # type: ignore[index]
        assert [step["event"] for step in memory.history(one["id"])] == ["ADD", "UPDATE"]
        assert len(memory.get_all(filters=ADA)["results"]) == 1
        memory.delete(one["id"])
        assert memory.get(one["id"]) is None
        memory.add("Again.", user_id="ada", infer=False)
        memory.reset()
        assert memory.get_all(filters=ADA) == {"results": []}
        with pytest.raises(ValueError, match="not found"):
            memory.delete("nothing")


CALLS: list[tuple[str, str, str, dict[str, Any] | None]] = [
    ("read", "GET", "/v1/event/x/", None),
    ("write", "POST", "/v3/memories/add/", {"messages": "I hid it.", "user_id": "ada"}),
    ("read", "POST", "/v3/memories/search/", {"query": "Who hid it?", "filters": ADA}),
    ("read", "POST", "/v3/memories/", {"filters": ADA}),
    ("read", "GET", "/v1/memories/x/", None),
    ("write", "PUT", "/v1/memories/x/", {"text": "y"}),
    ("write", "DELETE", "/v1/memories/x/", None),
    ("read", "GET", "/v1/memories/x/history/", None),
    ("forget", "DELETE", "/v1/memories/?user_id=ada", None),
    ("read", "GET", "/v1/entities/", None),
    ("forget", "DELETE", "/v2/entities/user/ada/", None),
    ("write", "PUT", "/v1/batch/", {"memories": [{"memory_id": "x", "text": "y"}]}),
    ("write", "DELETE", "/v1/batch/", {"memories": [{"memory_id": "x"}]}),
]


def test_every_path_asks_for_its_right_and_nothing_of_another_zone_comes_out(
    service: Served,
) -> None:
    with service.client("zoneqxb") as other:
        secret = {"messages": "I hid the qxcanaryword in Turin.", "user_id": "ada", "infer": False}
        hidden = other.post("/v3/memories/add/", json=secret).json()
        other.post("/v1/zones/zoneqxb/events", json=said("m9", "The qxcanaryword again."))
    ids = [hidden["event_id"], hidden["results"][0]["id"], "m9"]
    nobody, forged = service.bare(), service.bare(Authorization="Token rct_1_2")
    without = {
        right: service.client("own", tuple(one for one in EVERYTHING if one != right))
        for right in EVERYTHING
    }
    whole = service.client("own")
    several = service.client(("own", "third"))
    before = len(service.log.getvalue())
    for right, method, path, body in CALLS:
        for client in (nobody, forged):
            assert client.request(method, path, json=body).status_code == 401, path
        refused = without[right].request(method, path, json=body)
        assert refused.status_code == 404, (path, refused.text)
        assert refused.json()["detail"].startswith("there is nothing at this address")
        foreign = whole.request(method, path, json=body, headers={"X-Recollect-Zone": "zoneqxb"})
        nowhere = whole.request(method, path, json=body, headers={"X-Recollect-Zone": "nowhere"})
        for answer in (foreign, nowhere):
            assert answer.status_code == 404, path
            assert answer.json()["detail"] == refused.json()["detail"]
        assert several.request(method, path, json=body).status_code == 422, path
        for place in (path, *(path.replace("/x/", f"/{id_}/") for id_ in ids)):
            answer = whole.request(method, place, json=body)
            assert answer.status_code < 500, (place, answer.text)
            seen = f"{answer.headers} {answer.text}"
            assert "qxcanary" not in seen, place
            assert "zoneqxb" not in seen, place
    assert "qxcanary" not in service.log.getvalue()[before:]
    with service.client("zoneqxb") as other:
        kept = other.post("/v3/memories/", json={"filters": ADA}).json()["results"]
        assert [one["memory"] for one in kept] == ["I hid the qxcanaryword in Turin."]
    for client in (nobody, forged, whole, several, *without.values()):
        client.close()


def test_errors_are_those_that_the_client_knows(service: Served, client: MemoryClient) -> None:
    with pytest.raises(MemoryNotFoundError):
        client.get("nothing")
    with pytest.raises(MemoryNotFoundError):
        client.delete("nothing")
    for call in (
        lambda: client.add("x"),
        lambda: client.search("x"),
        lambda: client.get_all(),
        lambda: client.delete_all(),
        lambda: client.search("x", filters={**ADA, "n": {"like": 1}}),
        lambda: client.search("x", filters={**ADA, "topic": "home"}),
        lambda: client.search("x", filters={**ADA, "NOT": [{"keyword": "home"}]}),
        lambda: client.get_all(filters={"AND": [ADA, {"memory_id": "x"}]}),
    ):
        with pytest.raises(ValidationError):
            call()
    with pytest.raises(ValueError, match="Authorization"):
        MemoryClient(api_key="rct_1_2", host=service.url)
    client.client.headers["Authorization"] = "Token rct_1_2"
    with pytest.raises(AuthenticationError):
        client.get("x")


def test_the_filters_that_mem0_documents_work_and_unknown_ones_are_refused(
    client: MemoryClient,
) -> None:
    """Fault 4."""
    client.add(
        "I collect stamps. I play chess.",
        user_id="ada",
        timestamp=1_770_000_000,
        metadata={"topic": "hobby", "categories": ["leisure"]},
    )
    client.add("I work as a welder.", user_id="ada", timestamp=1_780_000_000)

    def found(**filters: Any) -> set[str]:
        both = {"AND": [ADA, filters]}
        listed = {one["memory"] for one in client.get_all(filters=both)["results"]}
        searched = client.search("stamps chess welder", filters=both, top_k=50)["results"]
        assert {one["memory"] for one in searched} == listed
        return listed

    stamps, chess, work = "Ada collects stamps.", "Ada plays chess.", "Ada works as a welder."
    ids = {one["memory"]: one["id"] for one in client.get_all(filters=ADA)["results"]}
    assert set(ids) == {stamps, chess, work}
    assert found(keywords={"icontains": "STAMPS"}) == {stamps}
    assert found(keywords={"contains": "STAMPS"}) == set()
    assert found(memory_ids={"in": [ids[chess], ids[work]]}) == {chess, work}
    assert found(memory_ids=[ids[chess]]) == {chess}
    assert found(NOT=[{"memory_ids": [ids[chess]]}]) == {stamps, work}
    assert found(timestamp={"gte": 1_775_000_000}) == {work}
    assert found(timestamp={"lt": "2026-04-01"}) == {stamps, chess}
    assert found(categories={"in": ["leisure"]}) == {stamps, chess}
    assert found(metadata={"topic": "hobby"}) == {stamps, chess}
    client.add("I fish.", user_id="bob")
    for filters in (
        *({"topic": "hobby"}, {"user_ids": "ada"}, {"NOT": [{"catgories": ["x"]}]}),
        *({"OR": [{"keyword": "x"}]}, {"user_id": "bob", "categories": ["leisure"]}),
    ):
        said = filters if "user_id" in filters else {**ADA, **filters}
        with pytest.raises(ValidationError) as caught:
            client.get_all(filters=said)
        assert "filters" in str(caught.value)
    answer = client.client.post("/v3/memories/search/", json={"query": "x", "filters": said})
    assert answer.status_code == 422
    wrong = {"query": "x", "filters": {**ADA, "topic": "hobby"}}
    assert client.client.post("/v3/memories/search/", json=wrong).status_code == 400


def test_a_token_for_several_zones_says_which(service: Served) -> None:
    both = token(service, "left", "right")
    for zone in ("left", "right"):
        http = httpx.Client(headers={"X-Recollect-Zone": zone})
        client = MemoryClient(api_key=both, host=service.url, client=http)
        client.add(f"I am in {zone}.", user_id="ada", infer=False)
        assert [one["memory"] for one in client.get_all(filters=ADA)["results"]] == [
            f"I am in {zone}."
        ]
        http.close()


@pytest.mark.parametrize(
    "filters", ["{[]: 1}", "{{}: 1}", "{'user_id': '\\ud800'}", "{1: 2}", "[", "-" * 9_000 + "1"]
)
def test_filters_that_are_none_erase_nothing_and_are_told_so(service: Served, filters: str) -> None:
    with service.client("filters") as client:
        answer = client.delete("/v1/memories/", params={"filters": filters})
    assert answer.status_code in (400, 422), answer.text


def test_what_has_no_counterpart_says_so(client: MemoryClient, service: Served) -> None:
    for call in (
        lambda: client.create_memory_export(schema="{}"),
        lambda: client.get_memory_export(user_id="ada"),
        lambda: client.get_summary(),
        lambda: client.get_profile("ada"),
        lambda: client.feedback(memory_id="x", feedback="POSITIVE"),
    ):
        with pytest.raises(Exception, match="does not support this endpoint"):
            call()
    assert service.bare().post("/v1/exports/", json={}).status_code == 401


def test_an_update_with_an_early_time_is_the_newest(client: MemoryClient) -> None:
    (added,) = client.add("My colour is green.", user_id="ada", infer=False)["results"]
    client.update(added["id"], text="My colour is blue.")
    changed = client.update(added["id"], text="My colour is red.", timestamp="2024-01-01T00:00:00Z")
    assert changed["memory"] == "My colour is red."
    assert [one["memory"] for one in client.get_all(filters=ADA)["results"]] == [changed["memory"]]
    versions = [one["new_memory"] for one in client.history(added["id"])]
    assert versions == [f"My colour is {colour}." for colour in ("green", "blue", "red")]
    # Also of a memory that a clock ahead of the service's has made.
    ahead = client.add("I play chess.", user_id="bo", infer=False, timestamp="2099-01-01T00:00:00Z")
    for text in ("I play go.", "I play shogi."):
        assert client.update(ahead["results"][0]["id"], text=text)["memory"] == text
