"""Kill the real command at every failpoint and at random moments, and look for damage.

python -m tests.kill --each 3           at every place at least three times
python -m tests.kill --total 1000       at least so many times in all
python -m tests.kill --lose-wals        after each death the power is cut: WALs are lost
python -m tests.kill --seed 5           another world, and other moments
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from recollect.streams.encoder.cache import model_directory, read_graph
from recollect.streams.encoder.catalog import REGISTRY
from recollect.streams.system.failpoints import FAILPOINTS
from tests.kill.checks import Checks, Contents, Trace, check_home, contents, traces_of
from tests.kill.commands import Recollect, Wrong
from tests.kill.power import PowerCut
from tests.kill.steps import RANDOM, Killer, do, do_killed, steps
from tests.kill.world import World, make_world

Say = Callable[[str], None]

# Beside every so many homes one more has an encoder, where the cache holds one.
_ENCODED_EVERY = 4


def cached_encoder() -> str | None:
    """Return the name of an encoder that needs no fetching, or None."""
    given = os.environ.get("RECOLLECT_CACHE") or "~/.cache/recollect"
    cache = Path(given).expanduser()
    for name, model in REGISTRY.items():
        if read_graph(model_directory(cache, model.checksums), "int8") is not None:
            return name
    return None


class Trial:
    """Homes with the same events: one for each encoder is left alone, the others are killed."""

    def __init__(self, directory: Path, world: World, checks: Checks, say: Say) -> None:
        self._directory = directory
        self._world = world
        self._checks = checks
        self._say = say
        self.steps = steps(world, directory / "files")
        self._undisturbed: dict[str, _Undisturbed] = {}
        self._homes = 0
        world.write(directory / "files")

    def home(self, encoder: str, killer: Killer) -> None:
        """Do all the work on a new home under kills, and check it."""
        undisturbed = self._undisturbed.get(encoder) or self._leave_alone(encoder)
        self._homes += 1
        recollect = Recollect(self._directory / f"home-{self._homes}")
        recollect.ask("init", "--encoder", encoder)
        title = f"home {self._homes}" + (f" with {encoder}" if encoder != "none" else "")
        began, before = time.monotonic(), killer.kills
        try:
            for step in self.steps:
                seconds = undisturbed.seconds.get(step.name, undisturbed.mean)
                # A machine's others come and go: random moments are of how long it takes now.
                took = do_killed(recollect, step, killer, seconds)
                undisturbed.seconds[step.name] = (seconds + took) / 2
                if step.forgets is not None:
                    self._look_for(undisturbed.traces[step.forgets], recollect.home, title)
            check_home(
                recollect,
                self._world,
                undisturbed.contents,
                undisturbed.hashes,
                [trace for traces in undisturbed.traces for trace in traces],
                self._checks,
                title,
            )
        except Wrong as error:
            self._checks.note(f"{title}: every command succeeds in the end", error)
        self._say(f"{title}: {killer.kills - before} deaths, {time.monotonic() - began:.0f} s")

    def _look_for(self, traces: list[Trace], home: Path, title: str) -> None:
        """Note where traces stand at once: a rebuild later would sweep them away."""
        for trace in traces:
            self._checks.note(f"{title}: at once {trace.what}", ", ".join(trace.places(home)))

    def _leave_alone(self, encoder: str) -> _Undisturbed:
        recollect = Recollect(self._directory / f"undisturbed-{encoder}")
        recollect.ask("init", "--encoder", encoder)
        title = f"undisturbed home, encoder {encoder}"
        seconds: dict[str, float] = {}
        traces: list[list[Trace]] = []
        for step in self.steps:
            if step.rebuilds:
                continue
            if step.forgets is not None:
                gone = self._world.forgotten[step.forgets]
                traces.append(traces_of(gone, recollect.home))
            seconds[step.name] = do(recollect, step)
        hashes = {row["model"]: row["hash"] for row in recollect.ask("verify")["models"]}
        undisturbed = _Undisturbed(contents(recollect.home), hashes, traces, seconds)
        every = [trace for of_one in traces for trace in of_one]
        check_home(recollect, self._world, undisturbed.contents, hashes, every, self._checks, title)
        self._undisturbed[encoder] = undisturbed
        return undisturbed


@dataclass(frozen=True)
class _Undisturbed:
    """What came of the home that was left alone."""

    contents: Contents
    hashes: dict[str, str]
    #: Of each forgotten event, in the order of the world's.
    traces: list[list[Trace]]
    seconds: dict[str, float]

    @property
    def mean(self) -> float:
        return sum(self.seconds.values()) / len(self.seconds)


def code_times() -> dict[str, float]:
    """Return when each file of the code under test was last written."""
    root = Path(__file__).resolve().parents[2]
    rooms = ("schemas", "projections", "streams", "recollect")
    return {
        str(path.relative_to(root)): path.stat().st_mtime
        for room in rooms
        for path in (root / room).rglob("*.*")
        if path.suffix in (".py", ".sql")
    }


def run(
    *,
    each: int,
    total: int = 0,
    thorough: bool = True,
    lose_wals: bool = False,
    seed: int = 1,
    size: int = 360,
    encoder: str | None = None,
    most_homes: int | None = None,
    say: Say = print,
) -> tuple[Checks, Killer]:
    """Kill until every place was hit `each` times and `total` deaths were died in all.

    `thorough`: at every place in every kind of work besides. `lose_wals`: after each death what
    was not flushed to the disk is lost. `encoder`: one for a share of the
    homes. `most_homes`: give up after so many without.
    """
    if "RECOLLECT_FAILPOINT" in os.environ:
        raise SystemExit("RECOLLECT_FAILPOINT is set, which would kill this test; unset it")
    power = PowerCut(random.Random(f"power {seed}")) if lose_wals else None
    killer = Killer(random.Random(f"kill {seed}"), each, total, thorough, power)
    checks = Checks()
    code = code_times()
    # A rare place in rare work may take a few homes; most need three.
    most = most_homes or 12 + each + total // 20
    with tempfile.TemporaryDirectory(prefix="recollect-kill-") as scratch:
        trial = Trial(Path(scratch), make_world(seed, size), checks, say)
        for number in range(most):
            if number and killer.content(trial.steps):
                break
            trial.home("none", killer)
            if encoder is not None and number % _ENCODED_EVERY == 0:
                # Every place once more, whatever the homes without an encoder were given.
                extra = Killer(random.Random(f"kill {seed}, encoded {number}"), 1, 0, power=power)
                trial.home(encoder, extra)
                killer.add(extra)
    # Homes that were filled by different code differ, and no kill is to blame.
    checks.same("the code stayed as it was while this ran", code_times(), code)
    for name in (*FAILPOINTS, RANDOM):
        quota = killer.quota(name)
        lacks = "" if killer.hits[name] >= quota else f"{killer.hits[name]} times only"
        checks.note(f"died {quota} times: {name}", lacks)
    for name, kind in killer.lacking_pairs(trial.steps):
        checks.note(f"died at {name} of {kind}", "never")
    if total:
        checks.note(
            f"{total} deaths in all", "" if killer.kills >= total else f"{killer.kills} only"
        )
    return checks, killer


def table(killer: Killer) -> str:
    """Return how often each place was hit, and in which work."""
    lines = [f"{'place':24}{'deaths':>8}  in"]
    for name in (*FAILPOINTS, RANDOM):
        kinds = [kind for place, kind in killer.pairs if place == name]
        parts = [f"{kind} {killer.pairs[name, kind]}" for kind in kinds]
        lines.append(f"{name:24}{killer.hits[name]:8}  {', '.join(parts)}")
    lines.append(f"{'all':24}{killer.kills:8}  and {killer.survived} commands ended first")
    if killer.power is not None:
        lines.append(f"after {killer.power.cuts} of them {killer.power.frames} frames were lost")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the kill test; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.kill", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--each", type=int, default=3, help="deaths at every place [3]")
    parser.add_argument("--total", type=int, default=0, help="least deaths in all")
    parser.add_argument("--lose-wals", action="store_true", help="cut the power after each death")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--events", type=int, default=360, help="lines that are imported [360]")
    parser.add_argument("--encoder", help="for a share of the homes [one of the cache], or none")
    chosen = parser.parse_args(arguments)
    encoder = chosen.encoder or cached_encoder()
    began = time.monotonic()
    try:
        checks, killer = run(
            each=chosen.each,
            total=chosen.total,
            lose_wals=chosen.lose_wals,
            seed=chosen.seed,
            size=chosen.events,
            encoder=None if encoder == "none" else encoder,
        )
    except Wrong as error:
        print(f"FAILED  a home that nothing disturbed: {error}")
        return 1
    print(f"\n{table(killer)}\n")
    for what, wrong in checks.failed:
        print(f"FAILED  {what}: {wrong}")
    print(f"{time.monotonic() - began:.0f} s, seed {chosen.seed}")
    print(f"{checks.passed} passed, {len(checks.failed)} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
