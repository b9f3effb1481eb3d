"""Takes the pictures of docs/page.md, of the demo's export in a real Chromium.

python -m tests.page.pictures [DIRECTORY]

Without a directory, it replaces those of the docs.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path

from recollect.cli.app import run
from tests.page.kit import Page, chromium, settle, shown
from tests.service.kit import served

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
#: The words in the pictures of the docs, by which a test finds that they are out of date.
WORDS = ROOT / "tests" / "data" / "page_pictures.json"
_SHOWN_WORDS = """() => {
  const words = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(texts.currentNode);
    const { top, height } = range.getBoundingClientRect();
    if (height > 0 && top < innerHeight) words.push(texts.currentNode.data);
  }
  return words.join(" ").replace(/\\s+/g, " ").trim();
}"""
_SIZE = {"width": 1120, "height": 700}
#: The names of the pictures, and the views they show.
VIEWS = {
    "ask": "ask?query=When+is+the+concert%3F",
    "moments": "timeline?at=2026-03&entity=seun&compare=1&then_known_at=2026-03-08T00:00:00Z",
    "person": "people?query=Tigran",
    "messages": "messages?by=thread",
}


def take(directory: Path) -> dict[str, str]:
    """Take all pictures, and return the words in each by its name."""
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        home = Path(place) / "home"
        agents = ("--agents", "own,consolidation", "--encoder", "none")
        export = str(ROOT / "demo" / "export.jsonl")
        zone = ("--home", str(home), "--zone", "family")
        for command in (("init", *agents), ("ingest", export, "--historical")):
            assert run([*zone, *command]) == 0
        with (
            served(home, no_auth=True) as service,
            chromium() as browser,
            shown(browser, service, viewport=_SIZE, locale="en-GB") as page,
        ):
            return {name: _picture(page, name, directory) for name in VIEWS}


def _picture(page: Page, name: str, directory: Path) -> str:
    page.goto(f"/#/family/{VIEWS[name]}")
    page.get_by_role("main").locator("li a").first.wait_for()
    if name in ("person", "messages"):
        page.get_by_role("main").locator("ul.rows a").first.click()
        page.get_by_role("main").locator("h2.title").wait_for()
    if name == "moments":
        page.get_by_role("region", name="Difference").wait_for()
    settle(page)
    page.wait_for_timeout(300)
    page.screenshot(path=directory / f"{name}.png")
    # How long an answer took differs.
    return re.sub(r"\d+ ms", "0 ms", page.evaluate(_SHOWN_WORDS))


if __name__ == "__main__":
    if sys.argv[1:]:
        take(Path(sys.argv[1]))
    else:
        words = json.dumps(take(PICTURES), indent=1, ensure_ascii=False)
        WORDS.write_text(words + "\n", encoding="utf-8")
