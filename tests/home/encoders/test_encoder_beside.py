"""Another encoder beside that of a home: added, given to a zone, and taken back (A13, E3)."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from tests.encoder import random_model
from tests.home.kit import SENTENCES, Home

SMALL, LARGE = 32, 48
ADD = ("init", "--add-encoder", "--encoder-directory")
FRESH = ("rebuild", "--level", "fresh", "--encoder", "large")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models of random weights, whose vectors differ in length."""
    directory = tmp_path_factory.mktemp("models")
    random_model.write(directory / "small", seed=7, shape=random_model.TINY)
    shape = {**random_model.TINY, "hidden": LARGE}
    random_model.write(directory / "large", seed=8, shape=shape)
    return directory


@pytest.fixture
def home(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home with the small model and a few messages, to which the large model is added."""
    monkeypatch.setenv("RECOLLECT_CACHE", str(tmp_path / "cache"))
    made = Home(tmp_path / "home")
    made.well("init", "--encoder-directory", str(models / "small"))
    made.ingest(*SENTENCES)
    made.well(*ADD, str(models / "large"))
    return made


def encoder(home: Home) -> str:
    name: str = home.well("status", "--json").json["encoder"]
    return name.partition("@")[0]


def lengths(home: Home) -> set[int]:
    """Return the lengths of the vectors of the generation in use."""
    with closing(apsw.Connection(str(home.generation / "embeddings.db"))) as connection:
        found = connection.execute("SELECT DISTINCT length(embedding) FROM embeddings")
        return {length for (length,) in found}


def compared(home: Home) -> set[str]:
    """Return the ids of the facts that are compared with a question by their vectors."""
    answer = home.well("recall", "Where does Ada live?", "--scope", "facts", "--explain", "--json")
    return {each["id"] for each in answer.json["results"] if "similarity" in each}


def test_a_zone_keeps_its_encoder_until_it_is_rebuilt(home: Home) -> None:
    assert encoder(home) == "small"
    priced = home.well(*FRESH, "--dry-run", "--json").json
    assert priced["encoded"] > len(SENTENCES)
    assert home.well(*FRESH, "--diff", "--json").json["difference"]["facts_lost"] == 0
    assert (encoder(home), lengths(home)) == ("small", {SMALL})
    home.well(*FRESH)
    assert (encoder(home), lengths(home)) == ("large", {LARGE})
    assert compared(home)
    home.ingest("Dora plays the cello.", first=9)
    assert lengths(home) == {LARGE}
    assert home.well("verify", "--json").json["ok"]


def test_a_rollback_returns_to_the_old_encoder_with_what_was_said_since(home: Home) -> None:
    home.well(*FRESH)
    home.ingest("Dora plays the cello.", first=9)
    home.well("rollback")
    assert (encoder(home), lengths(home)) == ("small", {SMALL})
    assert "cello" in home.well("recall", "Dora").stdout
    assert compared(home)
    home.ingest("Emil likes snow.", first=10)
    assert lengths(home) == {SMALL}
    assert home.well("verify", "--json").json["ok"]


def test_later_rebuilds_keep_the_encoder_and_encode_nothing_again(home: Home) -> None:
    home.well(*FRESH)
    for level in ("derive", "project"):
        rebuilt = home.well("rebuild", "--level", level, "--json").json
        assert (rebuilt["encoded"], encoder(home), lengths(home)) == (0, "large", {LARGE})
    home.well("rebuild", "--level", "fresh", "--encoder", "small")
    assert (encoder(home), lengths(home)) == ("small", {SMALL})


def test_files_that_are_lost_are_made_again_with_the_zones_encoder(home: Home) -> None:
    home.well(*FRESH)
    shutil.rmtree(home.path / "zones")
    home.well("status")
    assert (encoder(home), lengths(home)) == ("large", {LARGE})
    assert compared(home)


def test_what_is_forgotten_is_gone_from_both_generations(home: Home) -> None:
    home.ingest("The xylophone stands in the cellar.", first=9)
    before = home.generation.name
    home.well(*FRESH)
    home.well("forget", "m-9")
    files = [path for path in home.files() if path.is_file()]
    assert any(before in path.parts for path in files)
    assert [path for path in files if b"xylophone" in path.read_bytes()] == []
    home.well("rollback")
    assert encoder(home) == "small"


def test_a_home_without_an_encoder_gets_one(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_CACHE", str(tmp_path / "cache"))
    home = Home(tmp_path / "home")
    home.well("init", "--encoder", "none")
    home.ingest(*SENTENCES)
    assert not compared(home)
    home.well(*ADD, str(models / "large"))
    assert home.well(*FRESH, "--dry-run", "--json").json["encoded"] >= len(SENTENCES)
    home.well(*FRESH)
    assert lengths(home) == {LARGE}
    assert compared(home)
    home.well("rollback")
    assert not compared(home)


def test_new_zones_have_the_homes_own_encoder(home: Home) -> None:
    home.well(*FRESH)
    home.well("remember", "--zone", "other", "Ada is a pilot.")
    assert home.well("status", "--zone", "other", "--json").json["encoder"].startswith("small")


def test_an_encoder_is_added_once(home: Home, models: Path) -> None:
    before = (home.path / "home.json").read_bytes()
    assert json.loads(before)["format"] == 4
    home.well(*ADD, str(models / "large"))
    home.well("init")
    assert (home.path / "home.json").read_bytes() == before


def test_an_encoder_that_is_lost_is_installed_again(home: Home, tmp_path: Path) -> None:
    home.well(*FRESH)
    shutil.rmtree(tmp_path / "cache")
    assert home.run("recall", "Ada").status == 1
    home.well("init")
    assert compared(home)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--level", "fresh", "--encoder", "huge"), "recollect init --add-encoder --encoder huge"),
        (("--level", "derive", "--encoder", "large"), "level 'derive' computes no embeddings"),
    ],
)
def test_an_encoder_that_cannot_be_used_is_refused(
    home: Home, arguments: tuple[str, ...], said: str
) -> None:
    done = home.run("rebuild", *arguments)
    assert done.status == 2
    assert said in done.stderr
    assert encoder(home) == "small"


def test_zones_with_their_own_encoders_are_not_promoted(home: Home) -> None:
    done = home.run("promote", "--to", "kafka://localhost:1")
    assert done.status != 0
    assert "on Kafka all zones share one" in done.stderr
