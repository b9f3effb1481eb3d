"""Aider's chat history: what was typed and answered, without commands and output."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.schemas.errors import InvalidInput
from tests.adapters.kit import Opened, import_counts, opened, saved

FIRST = """
# aider chat started at 2024-03-05 12:00:00

> /usr/bin/aider --model gpt-4o\x20\x20
> Aider v0.50.1\x20\x20
> Repo-map: using 1024 tokens\x20\x20

#### Add a readme for my boat Otter.\x20\x20
####\x20\x20
#### I live in Porto.\x20\x20

I add it.

README.md
```
<<<<<<< SEARCH
=======
# Otter
>>>>>>> REPLACE
```

> Tokens: 2.1k sent, 300 received.\x20\x20
> Applied edit to README.md\x20\x20

#### /add x.py\x20\x20

> Added x.py to the chat\x20\x20

#### /ask What is my dog's name?\x20\x20
"""
SECOND = """\

I do not know.

# aider chat started at 2024-03-06 09:00:00

> Aider v0.50.1\x20\x20

#### My dog is Rex\x20\x20

#### <blank>\x20\x20
"""


def read(path: Path, text: str = FIRST + SECOND) -> Opened:
    folder = path / "boats"
    folder.mkdir(exist_ok=True)
    file = folder / ".aider.chat.history.md"
    file.write_text(text)
    return opened(file, timezone="Europe/Berlin")


def test_what_was_typed_and_answered_is_kept_and_nothing_else(tmp_path: Path) -> None:
    found = read(tmp_path)
    assert (found.formats, found.rejections) == (["aider"], [])
    edit = "README.md\n```\n<<<<<<< SEARCH\n=======\n# Otter\n>>>>>>> REPLACE\n```"
    assert [(one.direction, one.content) for one in found.contents] == [
        ("in", "Add a readme for my boat Otter.\n\nI live in Porto."),
        ("out", f"I add it.\n\n{edit}"),
        ("in", "What is my dog's name?"),
        ("out", "I do not know."),
        ("in", "My dog is Rex"),
    ]
    assert found.contents[1].reply_to == found.contents[0].source_id
    assert {one.metadata["project"] for one in found.contents} == {"boats"}
    assert [one.peer_id for one in found.contents] == 4 * ["2024-03-05 12:00:00"] + [
        "2024-03-06 09:00:00"
    ]
    # A session has only the time of its beginning.
    assert {draft.occurred_at for draft in found.drafts} == {1_709_636_400_000, 1_709_712_000_000}


def test_headings_and_quotations_of_an_answer_stay_in_it(tmp_path: Path) -> None:
    answer = "The plan.\n\n#### My favourite step\n\n> I live in Lisbon\n\nThen run it."
    found = read(
        tmp_path,
        "\n# aider chat started at 2024-03-05 12:00:00\n\n> Two lines\n> of output  \n"
        f"\n#### How?  \n\n{answer}\n\n> Tokens: 2  \n",
    )
    assert [(one.direction, one.content) for one in found.contents] == [
        ("in", "How?"), ("out", answer),
    ]  # fmt: skip


def test_the_zone_is_asked_for(tmp_path: Path) -> None:
    read(tmp_path)
    with pytest.raises(InvalidInput, match="times without a zone"):
        opened(tmp_path / "boats" / ".aider.chat.history.md")


def test_a_longer_history_adds_only_what_is_new(tmp_path: Path) -> None:
    file = tmp_path / ".aider.chat.history.md"
    exports = (saved(file, text) for text in (FIRST, FIRST + SECOND, FIRST + SECOND))
    counts = import_counts(tmp_path / "home", exports, timezone="Europe/Berlin")
    assert counts == [(3, 0, 0), (2, 3, 0), (0, 5, 0)]
