"""The start-up cost of a command, in comparison with the bare libraries.

python -m bench.serving.start [--rounds N]
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.kit.encoders import MISSING, cache, cached_name
from bench.kit.homes import Homes
from bench.kit.made import START_MS, Writer
from bench.kit.report import Report, Target, markdown
from recollect import Recollect
from recollect.projections.generations import ZoneDirectory
from recollect.streams.encoder.cache import TOKENIZER, model_directory, read_graph
from recollect.streams.encoder.catalog import REGISTRY

TURNS = 500
ROUNDS = 10
#: The maximum ms of a command, with warm page cache and bytecode.
MAX_MS = {"recollect recall": 500.0, "recollect --help": 120.0}

_COMMAND = "from recollect.cli.app import main; main()"
_QUESTION = "Who moved the boat last week?"
_LIBRARIES = "import apsw, click, msgspec, numpy, onnxruntime, tokenizers"
_SAME = f"""
import sys
{_LIBRARIES}
tokenizer, graph, question, *files = sys.argv[1:]
for file in files:
    apsw.Connection(file).execute("SELECT count(*) FROM sqlite_schema").fetchall()
ids = tokenizers.Tokenizer.from_file(tokenizer).encode(question).ids
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
session.run(None, {{session.get_inputs()[0].name: numpy.array([ids], numpy.int32)}})
"""


class _Cost(NamedTuple):
    wall: float
    cpu: float


def run(homes: Homes, *, rounds: int = ROUNDS) -> Report:
    """Measure the programs in alternating rounds, each in a process of its own."""
    name = cached_name()
    title, about = (
        "Start",
        f"The duration of a process from start to end, the best of {rounds} alternating rounds, "
        f"with a warm page cache. `recollect recall` asks one question of {TURNS} turns: it loads "
        "the encoder, embeds the question, and reads the index from its file. The bare libraries "
        "open the same files with apsw, load the tokenizer and the graph, and run one forward "
        "pass. If other work keeps the cores busy, compare the CPU time, not the wall time.",
    )
    columns = ["what", "wall ms", "CPU ms", "ratio to the bare libraries"]
    if name is None:
        return Report(title, about, columns, [], skipped=MISSING)
    home = homes.fresh()
    with Recollect(home, encoder=name) as recollect:
        zone = recollect.zone()
        zone.ingest(_events())
        zone.recall(_QUESTION)
    directory = model_directory(cache(), REGISTRY[name].checksums)
    graph = read_graph(directory, "int8")
    assert graph is not None
    zones = ZoneDirectory(home / "zones" / "default")
    files = sorted(map(str, zones.directory(zones.current()).glob("*.db")))
    programs: dict[str, Sequence[str]] = {
        "a bare interpreter": ("pass",),
        "`import recollect`": ("import recollect",),
        "recollect --help": (_COMMAND, "--help"),
        "importing the bare libraries": (_LIBRARIES,),
        "the bare libraries": (
            _SAME,
            str(directory / TOKENIZER),
            str(directory / graph.file),
            _QUESTION,
            *files,
        ),
        "recollect recall": (_COMMAND, "recall", _QUESTION),
    }
    # Bytecode is cached, as for an installed package.
    environment = {
        key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"
    } | {"RECOLLECT_HOME": str(home), "PYTHONPYCACHEPREFIX": str(homes.fresh())}
    costs = _alternating_times(programs, environment, rounds)
    bare = costs["the bare libraries"]
    return Report(
        title,
        about,
        columns,
        [
            [what, f"{cost.wall:.0f}", f"{cost.cpu:.0f}", f"{cost.cpu / bare.cpu:.2f}"]
            for what, cost in costs.items()
        ],
        [
            Target(
                f"{what} in at most {most:g} ms",
                f"{costs[what].wall:.0f} ms",
                costs[what].wall <= most,
            )
            for what, most in MAX_MS.items()
        ],
    )


def _events() -> list[dict[str, object]]:
    """Return generated turns of four people, a minute apart."""
    writer = Writer()
    return [
        {
            "platform": "chat",
            "id": f"m{number}",
            "sender_id": f"u{number % 4}",
            "occurred_at": START_MS + number * 60_000,
            "content": writer.text(),
        }
        for number in range(TURNS)
    ]


def _alternating_times(
    programs: Mapping[str, Sequence[str]], environment: Mapping[str, str], rounds: int
) -> dict[str, _Cost]:
    """Return the best times of each program, after a warm-up run."""
    costs_by_program: dict[str, list[_Cost]] = {what: [] for what in programs}
    for _ in range(rounds + 1):
        for what, (program, *arguments) in programs.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            began = time.perf_counter()
            subprocess.run(
                [sys.executable, "-c", program, *arguments],
                env=environment,
                cwd=Path(__file__).resolve().parents[2],
                stdout=subprocess.DEVNULL,
                check=True,
            )
            wall = time.perf_counter() - began
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
            costs_by_program[what].append(_Cost(1_000 * wall, 1_000 * cpu))
    return {
        what: _Cost(min(cost.wall for cost in costs[1:]), min(cost.cpu for cost in costs[1:]))
        for what, costs in costs_by_program.items()
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(prog="python -m bench.serving.start", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    with Homes() as homes:
        print(markdown(run(homes, rounds=parser.parse_args(arguments).rounds)))


if __name__ == "__main__":
    main()
