"""Runs benchmarks and writes bench/report.md; sections that are not run now stay unchanged.

python -m bench.run [--full] [--quick] [--only NAME,NAME] [--reference PYTHON]
                    [--others PYTHON] [--presidio PYTHON] [--zones DIR] [--out FILE]
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bench.encoder import encode, personal_data, reading_speed
from bench.kit.homes import Homes
from bench.kit.report import Report, load, machine, markdown
from bench.ledger import (
    adapters,
    disk,
    extract,
    forget,
    history,
    ingest,
    kafka,
    project,
    rebuild,
    remaining,
    seal,
    storm,
)
from bench.recall import context, facts, graph, latency, locomo, told_events
from bench.serving import concurrency, dependencies, page_load, service, start

_MARK = re.compile(r"^<!-- (\w+) -->$", re.MULTILINE)
OUT = Path(__file__).with_name("report.md")


def benches(
    homes: Homes,
    *,
    full: bool,
    quick: bool,
    reference: str | None,
    others: str | None,
    presidio: str | None,
    zones: Path | None,
) -> dict[str, Callable[[], str]]:
    """Return name -> benchmark, as a function that returns its section of the report.

    `reference`: a Python that has sentence-transformers, with which the encoder is compared.
    `others`: a Python that has the systems with which forgetting is compared.
    `presidio`: a Python that has presidio-evaluator and a spaCy pipeline.
    `zones`: a directory that keeps recall's zones for another run; None: they are deleted.

    Deriving appends to a home, so `rebuild` comes after the benchmarks that read the same homes.
    """
    sizes = rebuild.FULL_SIZES if full else (1_000, 10_000) if quick else rebuild.SIZES
    many = 10_000 if quick else 100_000
    asked = latency.FULL_SIZES if full else (latency.SIZES[0], many)
    forgotten = (3_000, 10_000) if quick else forget.SIZES

    def section(report: Report) -> str:
        return markdown(report)

    def concurrent_questions(questions: int) -> int:
        return questions // 5 if quick else questions

    return {
        "start": lambda: section(start.run(homes)),
        "dependencies": lambda: "\n".join(map(section, dependencies.run(homes))),
        "encode": lambda: section(encode.run(encode.sentences(400), reference=reference)),
        "ingest": lambda: section(ingest.run(homes)),
        "history": lambda: section(history.run(events=many)),
        "extract": lambda: section(extract.run(homes)),
        "reading": lambda: section(reading_speed.run()),
        "personal": lambda: section(personal_data.run(presidio)),
        "adapters": lambda: section(adapters.run(megabytes=10 if quick else adapters.MEGABYTES)),
        "seal": lambda: section(seal.run(homes)),
        "project": lambda: section(project.run(homes, small=many)),
        "recall": lambda: "\n".join(map(section, latency.run(sizes=asked, kept=zones))),
        "graph": lambda: section(graph.run(relationships=many)),
        "concurrency": lambda: section(
            concurrency.run(homes, questions=concurrent_questions(concurrency.QUESTIONS))
        ),
        "service": lambda: section(
            service.run(homes, questions=concurrent_questions(service.QUESTIONS))
        ),
        "page": lambda: section(page_load.run(homes)),
        "disk": lambda: section(disk.run()),
        "rebuild": lambda: section(rebuild.run(homes, sizes=sizes)),
        "forget": lambda: section(forget.run(homes, sizes=forgotten)),
        "remaining": lambda: section(remaining.run(others)),
        "broad": lambda: section(told_events.run()),
        "locomo": lambda: "\n".join(map(section, locomo.run(locomo.Options()))),
        "context": lambda: "\n".join(map(section, context.run())),
        "facts": lambda: section(facts.run()),
        "kafka": lambda: "\n".join(map(section, kafka.run(homes, None, events=many // 5))),
        "storm": lambda: section(storm.run(seconds=30.0 if quick else storm.SECONDS)),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the report, and print progress on stderr."""
    parser = argparse.ArgumentParser(prog="python -m bench.run", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--full", action="store_true", help="also measure a million events")
    parser.add_argument("--quick", action="store_true", help="use a tenth of the events")
    parser.add_argument("--only", help="comma-separated names of benchmarks")
    parser.add_argument("--reference", help="a Python that has sentence-transformers")
    parser.add_argument("--others", help="a Python that has mem0ai and langgraph's SqliteStore")
    parser.add_argument("--presidio", help="a Python that has presidio-evaluator and spaCy's model")
    parser.add_argument(
        "--zones", type=Path, help="keep recall's zones here, and reuse existing ones"
    )
    parser.add_argument("--out", type=Path, default=OUT)
    chosen = parser.parse_args(arguments)
    command = f"python -m bench.run{' --full' if chosen.full else ''}"
    command += " --quick" if chosen.quick else ""
    sections = existing_sections(chosen.out)
    with Homes() as homes:
        calls = benches(
            homes,
            full=chosen.full,
            quick=chosen.quick,
            reference=chosen.reference,
            others=chosen.others,
            presidio=chosen.presidio,
            zones=chosen.zones,
        )
        names = chosen.only.split(",") if chosen.only else list(calls)
        if unknown := set(names) - set(calls):
            parser.error(f"no benchmark is called {', '.join(sorted(unknown))}")
        for name in names:
            began, before = time.monotonic(), os.getloadavg()[0]
            print(f"{name} ...", end=" ", file=sys.stderr, flush=True)
            about = f"`{command} --only {name}`, on {machine()}"
            section = calls[name]()
            sections[name] = f"{about}; {load(before)}.\n\n{section}"
            # Written after each benchmark, so that results survive a failure of a later one.
            chosen.out.write_text(_render(sections, list(calls)), encoding="utf-8")
            print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)
    print(_render(sections, list(calls)))


def existing_sections(path: Path) -> dict[str, str]:
    """Return benchmark name -> section of an existing report."""
    if not path.is_file():
        return {}
    parts = _MARK.split(path.read_text("utf-8"))
    return {name: part.strip() + "\n" for name, part in zip(parts[1::2], parts[2::2], strict=True)}


def _render(sections: Mapping[str, str], names: Sequence[str]) -> str:
    """Return the report: each benchmark's section under a mark with its name."""
    marked = (f"<!-- {name} -->\n\n{sections[name]}" for name in names if name in sections)
    return "\n".join(["# Benchmarks\n", *marked])


if __name__ == "__main__":
    main()
