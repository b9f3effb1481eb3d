"""The command `infer`: a model answers a question over a context that is too long to read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.cli.options import FilePath, common_options, open_zone
from recollect.cli.output import note, paragraph, print_json, print_line, quiet
from recollect.schemas.errors import InvalidInput
from recollect.schemas.text_sanitising import collapse_whitespace, first_few, pluralise

if TYPE_CHECKING:
    from recollect.schemas.wire import Inference, InferenceEvent


@click.command(epilog="Example: recollect infer 'Which risks are named?' --context report.txt")
@common_options
@click.argument("query")
@click.option(
    "--context",
    "files",
    metavar="FILE",
    multiple=True,
    type=FilePath(exists=True, dir_okay=False),
    help="UTF-8 text file to add to the context. Repeatable.",
)
@click.option(
    "--memory",
    "ids",
    metavar="ID",
    multiple=True,
    help="Memory to add to the context. Repeatable.",
)
@click.option(
    "--max-iterations",
    type=int,
    default=15,
    show_default=True,
    help="Maximum number of rounds in which the model writes code and runs it.",
)
@click.option(
    "--max-seconds", type=float, default=120.0, show_default=True, help="Time limit in seconds."
)
@click.option(
    "--max-tokens",
    type=int,
    default=100_000,
    show_default=True,
    help="Maximum number of tokens of all calls together.",
)
@click.option(
    "--sandbox",
    type=click.Choice(["process", "docker"]),
    default="process",
    show_default=True,
    help="Where the model's code runs.",
)
def infer(
    home: str | None,
    zone: str | None,
    as_json: bool,
    query: str,
    files: tuple[Path, ...],
    ids: tuple[str, ...],
    max_iterations: int,
    max_seconds: float,
    max_tokens: int,
    sandbox: str,
) -> None:
    """Let a language model answer a question about long files or memories.

    The files and memories that --context and --memory name are the context. The model writes code
    that searches the zone and reads the context; the code runs in a sandbox. Needs access to a
    language model (the section [model] of recollect.toml), and uses tokens.
    """
    texts = []
    for file in files:
        try:
            texts.append(file.read_text("utf-8"))
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{file} is not UTF-8 at byte {error.start}") from None
    with open_zone(home, zone) as memory:
        inference = memory.infer(
            query,
            context="\n".join(texts),
            context_paths=list(ids),
            max_iterations=max_iterations,
            max_duration_seconds=max_seconds,
            max_total_tokens=max_tokens,
            sandbox_provider=sandbox,  # type: ignore[arg-type]
            progress=_show_event,
        )
    if as_json:
        print_json(inference)
    else:
        _show(inference)
    if inference.status != "success":
        raise SystemExit(1)


def _show_event(event: InferenceEvent) -> None:
    if event.event == "iteration_start":
        note(f"iteration {event.iteration}")


def _show(inference: Inference) -> None:
    reason = f"no answer: {inference.status}" + (f" ({inference.error})" if inference.error else "")
    for line in paragraph(collapse_whitespace(inference.answer or reason), 0, full=True):
        print_line(line)
    used = (
        f"{pluralise(inference.iterations, 'iteration')}, "
        f"{pluralise(inference.total_tokens, 'token')}, {inference.total_duration_seconds:.1f} s"
    )
    print_line(quiet(used))
    if inference.sources:
        print_line(quiet(f"read {first_few(inference.sources)}"))


COMMANDS = (infer,)
