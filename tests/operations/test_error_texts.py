"""Errors from below the command line: over HTTP, MCP and in the library nobody has its options."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.schemas import errors

ROOT = Path(__file__).resolve().parents[2]
#: The packages that the command line shares with every other interface.
BELOW = (
    *("recollect/operations", "recollect/home", "recollect/library", "recollect/service"),
    *("projections", "streams", "schemas"),
)
ERRORS = {name for name, each in vars(errors).items() if isinstance(each, type)} | {"RefusedExport"}
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
#: A whole command, which can be run whatever the interface, up to the end of the clause.
COMMAND = re.compile(r"\b(?:recollect|kafka-configs)\b[^;,()]*")


def texts(tree: ast.AST) -> Iterator[str]:
    """Yield the text of each error that a module makes, with X for what is filled in."""
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ERRORS:
            for argument in call.args:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield argument.value
                elif isinstance(argument, ast.JoinedStr):
                    yield "".join(
                        str(part.value) if isinstance(part, ast.Constant) else "X"
                        for part in argument.values
                    )


def outside_commands(text: str) -> list[str]:
    """Return the options that a text names outside of a whole command."""
    return OPTION.findall(COMMAND.sub("", text))


def test_options_outside_of_a_command_are_found() -> None:
    assert outside_commands("use --entity") == ["--entity"]
    assert outside_commands("run recollect init --add-encoder --encoder NAME") == []
    assert outside_commands("recollect backfill --status shows it; --pause pauses it") == [
        "--pause"
    ]


@pytest.mark.parametrize("package", BELOW)
def test_errors_name_options_only_within_whole_commands(package: str) -> None:
    found = {
        f"{path.relative_to(ROOT)}: {option}: {text}"
        for path in (ROOT / package).rglob("*.py")
        for text in texts(ast.parse(path.read_text()))
        for option in outside_commands(text)
    }
    assert not found
