"""The seed's requests, as it sends them, against the service."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import jsonschema
import pytest
from litestar import Litestar
from litestar.routes import HTTPRoute

from recollect.integrations.nexus.nexus_routes import ROUTER
from tests.service.kit import Served, served

#: The seed's own example of a memory to store.
STORE = {
    "content": "Alice joined Google as a senior engineer",
    "scope": "user",
    "memory_type": "fact",
    "importance": 0.8,
    "namespace": "/people/alice",
    "path_key": "job",
    "generate_embedding": True,
    "extract_entities": True,
    "extract_temporal": True,
    "extract_relationships": False,
    "store_to_graph": False,
    "classify_stability": True,
    "detect_evolution": False,
    "resolve_coreferences": False,
    "resolve_temporal": False,
}


GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "clients.md").read_text()


def test_the_guide_names_every_path_and_its_right() -> None:
    told = re.findall(r"^\| `([A-Z]+) (/api/[^`]*?)` \| (\w*) ?\|", GUIDE, re.MULTILINE)
    ours = {
        (method, re.sub(r"\{(\w+):str\}", r"{\1}", route.path)): handler.opt["right"]
        for route in Litestar([ROUTER], openapi_config=None).routes
        if isinstance(route, HTTPRoute)
        for handler in route.route_handlers
        for method in handler.http_methods & {"GET", "POST"}
    }
    assert {(method, path): right for method, path, right in told} == ours


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(Path(tmp_path_factory.mktemp("nexus")) / "home") as found:
        yield found


@pytest.fixture
def alice(service: Served, request: pytest.FixtureRequest) -> Iterator[httpx.Client]:
    with service.client(request.node.name[:60].replace("[", ".").rstrip("]"), user="alice") as it:
        yield it


def test_a_memory_is_stored_got_queried_and_listed(alice: httpx.Client) -> None:
    stored = alice.post("/api/memory/store", json=STORE)
    assert stored.status_code == 200
    (id_,) = stored.json().values()
    found = alice.get(f"/api/memory/{id_}").json()
    assert found["content"] == STORE["content"]
    assert (found["user_id"], found["state"], found["current_version"]) == ("alice", "active", 1)
    assert (found["importance_original"], round(found["effective_importance"], 2)) == (0.8, 0.8)
    assert [each["text"] for each in json.loads(found["entities_json"])][:1] == ["Alice"]
    assert "PERSON" in found["entity_types"].split(",")
    for path, parameters in (
        ("query", {"scope": "user", "memory_type": "fact", "person": "Alice"}),
        ("query", {"state": "active", "limit": "1", "include_invalid": "true"}),
        ("list", {"namespace": "/people/alice"}),
        ("list", {"namespace_prefix": "/people/"}),
    ):
        page = alice.get(f"/api/memory/{path}", params=parameters).json()
        assert [each["memory_id"] for each in page["memories"]] == [id_], parameters
    assert not alice.get("/api/memory/query", params={"memory_type": "reflection"}).json()["total"]


@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [
        ("after", "2000-01-01", "2100-01-01"),
        ("before", "2100-01-01", "2000-01-01"),
        ("event_after", "2024-05-01", "2024-05-02"),
        ("event_before", "2024-06-01", "2024-04-01"),
        ("valid_at_point", "2021-01-01", "2019-01-01"),
        ("system_at_point", "2100-01-01", "2000-01-01"),
    ],
)
def test_nexus_names_select_times(
    alice: httpx.Client, name: str, inside: str, outside: str
) -> None:
    body = {"content": "Bob met Mary in May 2024.", "valid_at": "2020-01-01T00:00:00Z"}
    alice.post("/api/memory/store", json={**body, "resolve_temporal": True})
    for value, count in ((inside, 1), (outside, 0)):
        page = alice.get("/api/memory/query", params={name: value}).json()
        assert page["total"] == count, value
    refused = alice.get("/api/memory/query", params={name: "soon"})
    assert refused.status_code == 422
    assert refused.json()["detail"].startswith(f"{name}: 'soon'")


@pytest.mark.parametrize("name", ["include_superseded", "include_invalid"])
def test_nexus_names_select_superseded(alice: httpx.Client, name: str) -> None:
    for content in ("The code is 1.", "The code is 2."):
        body = {"content": content, "namespace": "/door", "path_key": "code"}
        alice.post("/api/memory/store", json=body)
    for value, count in (("true", 2), ("false", 1)):
        page = alice.get("/api/memory/query", params={name: value}).json()
        assert page["total"] == count, value


def test_states_are_set_singly_and_in_batches(alice: httpx.Client) -> None:
    bodies = [{"content": f"Number {n}."} for n in range(3)]
    ids = alice.post("/api/memory/batch-store", json={"memories": bodies}).json()["memory_ids"]
    assert alice.post("/api/memory/deactivate", json={"memory_id": ids[0]}).json() == {
        "memory_id": ids[0],
        "state": "inactive",
        "success": True,
    }
    assert alice.get("/api/memory/query").json()["total"] == 2
    assert alice.post("/api/memory/approve", json={"memory_id": ids[0]}).status_code == 200
    report = alice.post("/api/memory/batch-delete", json={"memory_ids": [*ids, "none"]}).json()
    assert (report["success"], report["failed_ids"]) == (3, ["none"])
    assert alice.post("/api/memory/approve", json={"memory_id": "none"}).status_code == 404
    assert alice.post("/api/memory/approve", json={"memory_id": ids[0]}).json() == {
        "memory_id": ids[0],
        "state": "deleted",
        "success": False,
    }


def test_memories_are_consolidated_by_criteria(alice: httpx.Client) -> None:
    bodies = [{"content": f"Number {n}.", "importance": 0.2} for n in range(3)]
    ids = alice.post("/api/memory/batch-store", json={"memories": bodies}).json()["memory_ids"]
    asked = {"method": "criteria", "memory_type": "fact", "importance_max": 0.3}
    report = alice.post("/api/memory/consolidate", json=asked).json()
    (made,) = report["consolidated_ids"]
    assert report["archived"] == 3
    found = alice.get(f"/api/memory/{made}").json()
    assert (found["abstraction_level"], found["child_memory_ids"]) == (1, ids)
    assert alice.get(f"/api/memory/{made}/children").json()["total"] == 3
    source = alice.get(f"/api/memory/{ids[0]}").json()
    assert (source["is_archived"], source["importance"]) == (True, 0.1)
    assert source["parent_memory_id"] == made
    assert alice.post("/api/memory/consolidate", json={"linkage": "ward"}).status_code == 422
    assert alice.get("/api/memory/none/children").status_code == 404


def test_another_users_memory_is_not_there(service: Served, alice: httpx.Client) -> None:
    id_ = alice.post("/api/memory/store", json=STORE).json()["memory_id"]
    zone = alice.get(f"/api/memory/{id_}").json()["zone_id"]
    with service.client(zone, user="bob") as bob, service.client(zone) as admin:
        unknown = bob.get("/api/memory/01KR3XZBC0BAQNHSCT9EJ4NDPT")
        hidden = bob.get(f"/api/memory/{id_}")
        assert hidden.status_code == unknown.status_code == 404
        assert bob.get("/api/memory/query").json()["memories"] == []
        for path in (f"memories/{id_}", f"stored-memories/{id_}", f"memories/{id_}/why"):
            assert bob.get(f"/v1/zones/{zone}/{path}").status_code == 404
        question = {"query": "Who joined Google?"}
        for client, count in ((bob, 0), (alice, 1), (admin, 1)):
            found = client.post(f"/v1/zones/{zone}/memories/recall", json=question).json()
            assert len(found["results"]) >= count
            assert any("Google" in each["text"] for each in found["results"]) == bool(count)


def test_every_route_is_described_and_answers_as_described(
    service: Served, alice: httpx.Client
) -> None:
    described = alice.get("/openapi.json").json()
    routes = {
        (method, re.sub(r"\{\w+:str\}", "{}", route.path))
        for route in Litestar([ROUTER], openapi_config=None).routes
        if isinstance(route, HTTPRoute)
        for handler in route.route_handlers
        for method in handler.http_methods & {"GET", "POST"}
    }
    told = {
        (method.upper(), re.sub(r"\{\w+\}", "{}", path))
        for path, methods in described["paths"].items()
        for method in methods
        if path.startswith("/api/")
    }
    assert told == routes
    id_ = alice.post("/api/memory/store", json=STORE).json()["memory_id"]
    batch = {"memory_ids": [id_, "none"]}
    for method, path, body in (
        ("get", "/api/memory/{memory_id}", None),
        ("get", "/objs/memory/{memory_id}", None),
        ("get", "/api/memory/query", None),
        ("get", "/api/memory/list", None),
        ("get", "/api/v2/operations", None),
        ("post", "/api/memory/store", STORE),
        ("post", "/api/memory/batch-store", {"memories": [STORE]}),
        ("post", "/api/memory/deactivate", {"memory_id": id_}),
        ("post", "/api/memory/approve", {"memory_id": id_}),
        *(("post", f"/api/memory/batch-{done}", batch) for done in ("deactivate", "approve")),
        ("post", "/api/memory/batch-delete", batch),
    ):
        answer = alice.request(method, path.replace("{memory_id}", id_), json=body).json()
        found = described["paths"][path][method]["responses"]["200"]["content"]
        schema = {**found["application/json"]["schema"], "components": described["components"]}
        jsonschema.Draft202012Validator(schema).validate(answer)
    with service.client("other") as client:
        assert client.get("/api/memory/list", params={"unknown": "1"}).status_code == 400


def test_relationships_are_those_of_the_graph(alice: httpx.Client) -> None:
    said = {
        **STORE,
        "content": "Bob Stone works at Acme Corp.",
        "scope": "zone",
        "path_key": "bob",
        "extract_relationships": True,
    }
    id_ = alice.post("/api/memory/store", json=said).json()["memory_id"]
    found = alice.get(f"/api/memory/{id_}").json()
    zone = found["zone_id"]
    graph = alice.get(f"/v1/zones/{zone}/entities/Bob%20Stone/relationships").json()
    of_graph = {(each["source"], each["type"], each["target"]) for each in graph["relationships"]}
    stated = json.loads(found["relationships_json"])
    assert {(each["subject"], each["predicate"], each["object"]) for each in stated} == of_graph
    assert found["relationship_count"] == len(of_graph) > 0
    plain = alice.post("/api/memory/store", json={**said, "extract_relationships": False}).json()
    assert alice.get(f"/api/memory/{plain['memory_id']}").json()["relationships_json"] == "[]"


def test_operations_are_listed(alice: httpx.Client) -> None:
    alice.post("/api/memory/store", json=STORE)
    found = alice.get("/api/v2/operations")
    assert (found.status_code, found.json()) == (200, {"operations": [], "total": 0})


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"content": "Tea.", "scope": "nobody"}, 422),
        ({"content": "Tea.", "importance": 7}, 422),
        ({"content": "Tea.", "user_id": "bob"}, 422),
        ({"content": ""}, 422),
        ({"text": "Tea."}, 422),
    ],
)
def test_a_wrong_memory_is_refused(alice: httpx.Client, body: object, status: int) -> None:
    assert alice.post("/api/memory/store", json=body).status_code == status


def test_a_wrong_parameter_is_named(alice: httpx.Client) -> None:
    for name, value, status in (
        *(("limit", "0", 422), ("limit", "-1", 422), ("during", "May", 422), ("after", "x", 422)),
        *(("colour", "red", 400), ("limit", "two", 400), ("include_invalid", "maybe", 400)),
    ):
        found = alice.get("/api/memory/query", params={name: value})
        assert found.status_code == status, name
        assert name in found.json()["detail"]


def test_a_parameter_is_refused_as_by_recollects_own_routes(alice: httpx.Client) -> None:
    id_ = alice.post("/api/memory/store", json=STORE).json()["memory_id"]
    zone = alice.get(f"/api/memory/{id_}").json()["zone_id"]
    for name, value in (("colour", "red"), ("limit", "two"), ("limit", "0"), ("limit", "-1")):
        own = alice.get(f"/v1/zones/{zone}/stored-memories", params={name: value})
        nexus = alice.get("/api/memory/query", params={name: value})
        assert (nexus.status_code, nexus.json()["type"]) == (own.status_code, own.json()["type"])


def test_values_outside_a_closed_set_are_told_with_the_choices(alice: httpx.Client) -> None:
    for name, choices in (
        ("scope", "agent, user, zone, global"),
        ("memory_type", "fact, preference, experience, consolidated, reflection, cluster"),
        ("visibility", "private, shared, public"),
    ):
        refused = alice.post("/api/memory/store", json={"content": "Tea.", name: "planet"})
        assert refused.status_code == 422
        (error,) = refused.json()["errors"]
        assert error["pointer"] == f"#/{name}"
        assert error["detail"].endswith(f"choose from {choices}")


@pytest.mark.parametrize(
    "path",
    ["/api/memory/query", "/api/memory/list", "/memory/by-user/"],
    ids=["query", "list", "directory"],
)
def test_a_parameter_that_is_repeated_is_refused(alice: httpx.Client, path: str) -> None:
    alice.post("/api/memory/store", json=STORE)
    refused = alice.get(f"{path}?limit=1&limit=2")
    assert refused.status_code == 400
    assert refused.json()["detail"] == "limit is given more than once"
