"""Branches of a service's zones, for those who may see the zone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.branches.test_branches import MESSAGES, said
from tests.service.kit import Served, served


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "home") as running:
        yield running


def test_a_branch_is_told_and_asked_like_a_zone(service: Served) -> None:
    with service.client("ada") as client:
        told = client.post("/v1/zones/ada/events?wait=true", json={"events": MESSAGES})
        assert told.status_code == 200
        made = client.post("/v1/zones/ada/branches", json={"name": "trial"})
        assert made.status_code == 201
        event = said("b1", "I live in Oslo.", 2)
        told = client.post("/v1/zones/ada@trial/events?wait=true", json={"events": [event]})
        assert told.json()["new"] == 1
        body = {"query": "Where does Ada live?"}
        for zone, source in (("ada@trial", "b1"), ("ada", "m1")):
            asked = client.post(f"/v1/zones/{zone}/memories/recall", json=body)
            assert asked.json()["results"][0]["source_event_ids"] == [source]
        assert client.get("/v1/zones/ada/branches").json()["branches"][0]["events"] == 1
        assert client.delete("/v1/zones/ada/branches/trial").json()["name"] == "trial"
        assert client.get("/v1/zones/ada@trial/status").status_code == 404


def test_a_branch_is_hidden_from_tokens_of_other_zones(service: Served) -> None:
    with service.client("ada") as client, service.client("bob") as stranger:
        client.post("/v1/zones/ada/events?wait=true", json={"events": MESSAGES})
        client.post("/v1/zones/ada/branches", json={"name": "trial"})
        there = stranger.get("/v1/zones/ada@trial/status")
        nowhere = stranger.get("/v1/zones/ada@nothing/status")
        assert there.status_code == nowhere.status_code == 404
        assert there.json()["detail"] == nowhere.json()["detail"]
