"""The command that serves agents over MCP, or has a client start it: `mcp`."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.options import chosen, common, configured, given_zone
from recollect.cli.output import emit, say

if TYPE_CHECKING:
    from recollect.mcp_server.client_config import Change

#: What may be chosen; a test holds them to what there is.
SETS = ("recollect", "mem0", "chatgpt")
INSTALLED_IN = ("claude", "cursor", "vscode")


@click.command(epilog="Example: recollect mcp --install claude --yes")
@common
@click.option(
    "--tools",
    type=click.Choice(SETS),
    default=SETS[0],
    show_default=True,
    help="Under which names the tools are had.",
)
@click.option("--read-only", is_flag=True, help="No tool that changes anything.")
@click.option(
    "--url", metavar="URL", help="Of this service instead of a home; its token is a setting."
)
@click.option(
    "--install",
    type=click.Choice(INSTALLED_IN),
    help="Write into this client's configuration how to start it; shown first.",
)
@click.option("--yes", is_flag=True, help="With --install: do not ask.")
def mcp(
    home: str | None,
    zone: str | None,
    as_json: bool,
    tools: str,
    read_only: bool,
    url: str | None,
    install: str | None,
    yes: bool,
) -> int:
    """Serve a zone to an agent over MCP.

    It speaks the Model Context Protocol on standard input and output until the client closes
    them; a client starts it by itself. --install writes that into the client's configuration.
    """
    if url is not None and tools == "mem0":
        raise click.UsageError(
            f"--tools mem0 needs a home: let the agent ask {url.rstrip('/')}/mcp?tools=mem0 itself"
        )
    name = given_zone(zone)
    made = chosen(home, zone)[0] if url is None else None
    configuration = configured(home) if made is None else made.configuration
    if install is None:
        from recollect.integrations.facades import TOOL_SETS
        from recollect.library.library_home import Recollect
        from recollect.streams.system.extras import needed

        with needed("mcp"):
            from recollect.mcp_server.stdio_serving import serve_stdio

        opened = (
            Recollect(url or "", token=configuration.client.token)
            if made is None
            else Recollect(made, count_accesses=not read_only)
        )
        with opened as recollect:
            serve_stdio(recollect, name, tools=TOOL_SETS[tools](), read_only=read_only)
        return 0
    from recollect.mcp_server.client_config import carry_out, planned

    named = configuration.named
    options = [
        *(["--config", str(named.resolve())] if named else []),
        *(["--url", url] if url else []),
        *(["--tools", tools] if tools != SETS[0] else []),
        *["--read-only"] * read_only,
    ]
    place = None if made is None else made.directory.resolve()
    change = planned(install, place, name, options)  # type: ignore[arg-type]
    _show(change, err=as_json)
    written = change.needed and (yes or _agreed(change))
    if written:
        carry_out(change)
    if as_json:
        emit({"client": install, "path": str(change.path), "written": written})
    elif written:
        kept = f"; what was there is kept in {change.backup}" if change.before is not None else ""
        say(f"written{kept}. Start {install} again.")
    return 0 if written or not change.needed else 1


def _show(change: Change, *, err: bool) -> None:
    if not change.needed:
        say(f"{change.path} has this entry already", err=err)
        return
    verb = "changes" if change.before is not None else "makes"
    say(f"This {verb} {change.path}; in it:", err=err)
    for line in json.dumps({change.name: _without_token(change.entry)}, indent=2).splitlines():
        say(f"  {line}", err=err)


def _without_token(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry as a screen may show it."""
    if "RECOLLECT_TOKEN" not in entry.get("env", {}):
        return entry
    return {**entry, "env": {**entry["env"], "RECOLLECT_TOKEN": "…"}}


def _agreed(change: Change) -> bool:
    if not sys.stdin.isatty():
        say("nothing was written: give --yes to write it", err=True)
        return False
    return click.confirm("Write it?", default=False, err=True)


COMMANDS = (mcp,)
