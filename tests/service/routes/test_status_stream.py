"""The status of a zone as server-sent events."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from recollect import Recollect
from recollect.home.access_tokens import AccessTokens
from tests.library.kit import said
from tests.service.kit import Served, served
from tests.service.work.test_serve import serving

STREAM = "/v1/zones/ada/status/stream"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "home") as running:
        yield running


def events_of(stream: httpx.Response) -> Iterator[tuple[str, dict[str, Any]]]:
    name = ""
    for line in stream.iter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


def say(client: httpx.Client, number: int) -> None:
    answer = client.post(
        "/v1/zones/ada/events?wait=true", json=said(str(number), f"Boat {number}.")
    )
    answer.raise_for_status()


def test_the_status_is_sent_again_once_an_event_arrives(service: Served) -> None:
    with service.client("ada") as client:
        say(client, 1)
        with client.stream("GET", STREAM) as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            sent = events_of(stream)
            name, first = next(sent)
            assert (name, first["events"], first["lag"]) == ("status", 1, 0)
            with service.client("ada") as other:
                say(other, 2)
            last = next(status for _, status in sent if status["events"] == 2 and not status["lag"])
        assert last["head"] == client.get("/v1/zones/ada/status").json()["head"]


def test_a_revoked_token_is_sent_no_further_status(service: Served) -> None:
    made = AccessTokens(service.home).create(("ada",), ("read", "write"))
    with service.bare(Authorization=f"Bearer {made.token}") as client:
        say(client, 1)
        with client.stream("GET", STREAM) as stream:
            sent = events_of(stream)
            assert next(sent)[0] == "status"
            AccessTokens(service.home).revoke(made.id)
            *_, (name, problem) = sent
    assert (name, problem["status"]) == ("problem", 401)


def test_a_zone_without_events_has_no_stream(service: Served) -> None:
    with service.client("ada") as client:
        assert client.get(STREAM).status_code == 404


def test_a_service_that_ends_does_not_wait_for_streams(tmp_path: Path) -> None:
    with Recollect(tmp_path) as home:
        home.zone("ada").ingest([said("1", "A boat.")])
        token = AccessTokens(tmp_path).create(("ada",), ("read",)).token
    with (
        serving(tmp_path) as (process, url),
        httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}) as client,
        client.stream("GET", STREAM) as stream,
    ):
        sent = events_of(stream)
        assert next(sent)[0] == "status"
        process.send_signal(signal.SIGTERM)
        assert list(sent) == []
        # The grace period, after which streams would be broken off, is 30 s.
        assert process.wait(20) == 0
