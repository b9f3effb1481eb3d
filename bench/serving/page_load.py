"""The page: the size of its files, and how soon a real Chromium shows it.

python -m bench.serving.page_load [--rounds N]
"""

from __future__ import annotations

import argparse
import shutil
import statistics
from collections.abc import Sequence
from importlib import import_module
from itertools import islice
from typing import Any
from urllib.parse import quote_plus

from bench.kit.homes import Homes
from bench.kit.made import Writer
from bench.kit.report import Report, Target, markdown
from bench.serving.concurrency import made_events, made_questions
from bench.serving.service import Serving
from recollect import Recollect
from recollect.page.page_routes import page_files

ITEMS = 2_000
ROUNDS = 15
MAX_SCRIPT_KB, MAX_PAINT_MS = 100.0, 300.0
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_MISSING = "Chromium or playwright is not installed."
_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"


def run(homes: Homes, *, rounds: int = ROUNDS) -> Report:
    """Measure the page in a new browser context for each round."""
    files = page_files()
    scripts = [file for name, file in files.items() if name.endswith((".js", ".mjs"))]
    script_kb = sum(len(file.compressed) for file in scripts) / 1_000
    rest_kb = sum(len(files[name].compressed) for name in ("index.html", "page.css")) / 1_000
    title, about = (
        "The page",
        f"What a browser gets of the page, compressed: {len(scripts)} modules and two other files. "
        f"The times are medians of {rounds} first visits to a home of {ITEMS:,} items on loopback, "
        "with a browser that is running and has nothing cached: until the first text is painted, "
        "and until the answer to a question in the address is shown.",
    )
    columns = ["script kB", "rest kB", "first paint ms", "answer ms"]
    sizes = [f"{script_kb:.1f}", f"{rest_kb:.1f}"]
    target = Target(
        f"all script in at most {MAX_SCRIPT_KB:g} kB",
        f"{script_kb:.1f} kB",
        script_kb <= MAX_SCRIPT_KB,
    )
    program = next(filter(None, map(shutil.which, _BROWSERS)), None)
    try:
        playwright: Any = import_module("playwright.sync_api")
    except ImportError:
        program = None
    if program is None:
        return Report(title, about, columns[:2], [sizes], [target], skipped=_MISSING)
    home = homes.fresh() / "home"
    with Recollect(home, encoder="none") as recollect:
        recollect.zone("default").ingest(islice(made_events(), ITEMS))
    serving = Serving(home)
    try:
        with playwright.sync_playwright() as started:
            browser = started.chromium.launch(executable_path=program, args=["--no-sandbox"])
            asking = made_questions(Writer())
            # The first visit compiles what a browser keeps.
            times = [
                _visit(browser, serving.port, question) for question in islice(asking, rounds + 1)
            ][1:]
            browser.close()
    finally:
        serving.close()
    paint, answer = (statistics.median(one) for one in zip(*times, strict=True))
    targets = [
        target,
        Target(
            f"first paint in at most {MAX_PAINT_MS:g} ms",
            f"{paint:.0f} ms",
            paint <= MAX_PAINT_MS,
        ),
    ]
    return Report(title, about, columns, [[*sizes, f"{paint:.0f}", f"{answer:.0f}"]], targets)


def _visit(browser: Any, port: int, question: str) -> tuple[float, float]:
    """Return the ms until the first paint, and until an answer is shown."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{port}/#/default/ask?query={quote_plus(question)}")
    page.locator("ol.results > li, p.empty").first.wait_for()
    answer: float = page.evaluate("performance.now()")
    paint: float = page.evaluate(_PAINT)
    context.close()
    return paint, answer


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(prog="python -m bench.serving.page_load", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    chosen = parser.parse_args(arguments)
    with Homes() as homes:
        print(markdown(run(homes, rounds=chosen.rounds)))


if __name__ == "__main__":
    main()
