"""A start is light: what a command does not use, it does not load."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from recollect.cli.command_table import COMMAND_TABLE

ROOT = Path(__file__).resolve().parents[2]

RUN = """
import json, sys
from recollect.cli.app import run
status = run(sys.argv[2:])
open(sys.argv[1], "w").write(json.dumps([status, sorted(sys.modules)]))
"""
HELPS = """
import json, sys
from recollect.cli.app import run
status = max(run([command, "--help"]) for command in sys.argv[2:])
open(sys.argv[1], "w").write(json.dumps([status, sorted(sys.modules)]))
"""
IMPORT = """
import json, sys
import recollect
open(sys.argv[1], "w").write(json.dumps([0, sorted(sys.modules)]))
"""

#: What speaks with Kafka, runs workers, or fetches models.
OF_THE_NETWORK = {"aiokafka", "aiohttp", "faust", "mode", "ssl", "http.client", "urllib.request"}
#: What computes.
OF_ANSWERS = {"apsw", "cryptography", "numpy", "onnxruntime", "sqlite_vec", "tokenizers"}
#: What makes a model's graph, decides, or keeps a home in order.
OF_OTHER_COMMANDS = {
    "google.protobuf",
    "safetensors",
    "multiprocessing",
    "recollect.streams.agents",
    "recollect.streams.deciding",
    "recollect.streams.engine.zone_driver",
    "recollect.streams.encoder.graphs.graph",
    "recollect.streams.encoder.installing",
    "recollect.streams.language",
    "recollect.streams.ledger.kafka.kafka_ledger",
    "recollect.streams.lifecycle",
    "recollect.streams.workers",
    "recollect.operations.upkeep.doctor",
    "recollect.operations.processes.worker_processes",
}
#: What serves programs and agents.
OF_SERVICES = {"litestar", "uvicorn", "mcp", "mcp_types", "pydantic", "starlette", "httpx"}
#: What neither help nor a question needs.
UNUSED = OF_THE_NETWORK | OF_OTHER_COMMANDS | OF_SERVICES | {"asyncio", "subprocess"}


def loaded(program: str, place: Path, *arguments: str) -> set[str]:
    """Return the modules that a program has loaded when it is done."""
    report = place / "modules.json"
    environment = {**os.environ, "RECOLLECT_HOME": str(place / "home"), "PYTHONPATH": str(ROOT)}
    environment.pop("RECOLLECT_LEDGER", None)
    done = subprocess.run(
        [sys.executable, "-c", program, str(report), *arguments],
        env=environment,
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    status, modules = json.loads(report.read_text())
    assert status == 0, done.stderr
    return set(modules)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a home without an encoder that remembers one thing."""
    directory = tmp_path_factory.mktemp("start")
    loaded(RUN, directory, "init", "--encoder", "none")
    loaded(RUN, directory, "remember", "Ada lives in Turin.")
    return directory


def test_importing_the_library_loads_nothing_of_it(place: Path) -> None:
    modules = loaded(IMPORT, place)
    assert not modules & (OF_ANSWERS | UNUSED | {"click", "msgspec", "nicknames"})
    assert not {name for name in modules if name.startswith("recollect.")}


def test_help_of_no_command_loads_types_or_what_answers(place: Path) -> None:
    modules = loaded(HELPS, place, *COMMAND_TABLE)
    assert "recollect.cli.commands.recall_commands" in modules
    assert not modules & (OF_ANSWERS | UNUSED | {"msgspec", "recollect.schemas.wire"})
    assert not {
        name for name in modules if name.startswith(("recollect.streams", "recollect.projections"))
    }


def test_the_list_of_commands_loads_none_of_them(place: Path) -> None:
    modules = loaded(RUN, place, "--help")
    assert not {name for name in modules if name.startswith("recollect.cli.commands")}
    assert not modules & {"logging", "msgspec", "recollect.schemas.wire"}


def test_a_question_loads_what_answers_it_and_no_more(place: Path) -> None:
    modules = loaded(RUN, place, "recall", "Where does Ada live?", "--json")
    assert "numpy" in modules, "or nothing was asked"
    # Without an encoder there is no model to run.
    assert not modules & (UNUSED | {"onnxruntime", "tokenizers"})
    assert "numpy.ma" not in modules


def test_what_waits_to_be_decided_is_what_loads_the_agents(place: Path) -> None:
    """So that the test above does not look for names that nothing has any more."""
    modules = loaded(RUN, place, "remember", "Ada has a cat.")
    assert {
        "recollect.streams.agents",
        "recollect.streams.deciding",
        "recollect.streams.engine.zone_driver",
    } <= modules
    everything = OF_THE_NETWORK | OF_ANSWERS | OF_OTHER_COMMANDS | OF_SERVICES
    missing = {name for name in everything if name not in sys.modules and find_spec(name) is None}
    assert not missing
