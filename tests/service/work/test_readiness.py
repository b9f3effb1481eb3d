"""When a service is ready: with its encoder, which somebody may still bring."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from recollect import Recollect
from recollect.home.home_directory import Home
from recollect.projections.recall.index import zone_index
from recollect.service import query_service
from tests.encoder import random_model
from tests.service.kit import served

MESSAGE = {
    "platform": "chat",
    "id": "m1",
    "sender_id": "ada",
    "occurred_at": "2026-05-01T10:00:00Z",
    "content": "I live in Turin.",
}


def test_it_is_not_ready_until_its_encoder_can_be_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = random_model.write(tmp_path / "tiny", seed=7, shape=random_model.TINY)
    monkeypatch.setattr(query_service, "_RETRY_ENCODER_SECONDS", 0.05)
    monkeypatch.setenv("RECOLLECT_CACHE", str(tmp_path / "full"))
    Home.create_or_open(tmp_path / "home", model_directory=tiny)
    monkeypatch.setenv("RECOLLECT_CACHE", str(tmp_path / "empty"))
    with served(tmp_path / "home") as service, service.bare() as client:
        while "encoder" not in service.log.getvalue():
            time.sleep(0.01)
        assert client.get("/health/live").status_code == 200
        told = client.get("/health/ready")
        assert told.status_code == 503
        assert "recollect doctor" in told.json()["detail"]
        (tmp_path / "full").rename(tmp_path / "empty")
        while client.get("/health/ready").status_code != 200:
            time.sleep(0.01)


def test_it_builds_the_index_of_a_zone_before_the_first_query(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zone_index, "MIN_STORED_TURNS", 1)
    with Recollect(tmp_path / "home", encoder=None) as opened:
        opened.zone("ada").ingest(MESSAGE)
    directory = tmp_path / "home" / "zones" / "ada"
    assert not list(directory.glob("*/recall.index"))
    with served(tmp_path / "home"):
        until = time.monotonic() + 30
        while not list(directory.glob("*/recall.index")):
            assert time.monotonic() < until
            time.sleep(0.01)
