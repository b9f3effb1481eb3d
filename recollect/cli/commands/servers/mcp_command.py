"""The command that serves a zone over MCP, or installs itself in a client: `mcp`."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.options import common_options, configured, given_zone, home_and_zone
from recollect.cli.output import print_json, print_line

if TYPE_CHECKING:
    from recollect.mcp_server.client_config import ConfigEdit

#: Copies of the MCP server's lists, so that --help need not load it; a test compares the lists.
TOOL_SETS = ("recollect", "learning", "mem0", "chatgpt")
CLIENTS = ("claude", "cursor", "vscode")


@click.command(epilog="Example: recollect mcp --install claude --yes")
@common_options
@click.option(
    "--tools",
    type=click.Choice(TOOL_SETS),
    default=TOOL_SETS[0],
    show_default=True,
    help="Tool set to expose.",
)
@click.option("--read-only", is_flag=True, help="Expose only tools that change nothing.")
@click.option(
    "--url",
    metavar="URL",
    help="Use the service at URL instead of a home, with the token in the setting client.token.",
)
@click.option(
    "--install",
    type=click.Choice(CLIENTS),
    help="Add the server to this client's configuration; asks first.",
)
@click.option("--yes", is_flag=True, help="With --install: skip the confirmation.")
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
    """Serve a zone to an AI agent over MCP.

    Speaks the Model Context Protocol over stdio until the client disconnects. Clients launch this
    command themselves; --install adds it to a client's configuration.
    """
    if url is not None and tools == "mem0":
        raise click.UsageError(
            "--tools mem0 needs a home; connect the agent to "
            f"{url.rstrip('/')}/mcp?tools=mem0 instead"
        )
    name = given_zone(zone)
    selected = home_and_zone(home, zone)[0] if url is None else None
    configuration = configured(home) if selected is None else selected.configuration
    if install is None:
        from recollect.integrations import facades
        from recollect.library.library_home import Recollect
        from recollect.streams.system.extras import needed

        with needed("mcp"):
            from recollect.mcp_server.stdio_serving import serve_stdio

        opened = (
            Recollect(url or "", token=configuration.client.token)
            if selected is None
            else Recollect(selected, count_accesses=not read_only)
        )
        with opened as recollect:
            serve_stdio(recollect, name, tools=facades.TOOL_SETS[tools](), read_only=read_only)
        return 0
    from recollect.mcp_server.client_config import apply_edit, plan_edit

    explicit = configuration.explicit_file
    options = [
        *(["--config", str(explicit.resolve())] if explicit else []),
        *(["--url", url] if url else []),
        *(["--tools", tools] if tools != TOOL_SETS[0] else []),
        *["--read-only"] * read_only,
    ]
    directory = None if selected is None else selected.directory.resolve()
    change = plan_edit(install, directory, name, options)  # type: ignore[arg-type]
    _show(change, err=as_json)
    written = change.is_needed and (yes or _confirm(change))
    if written:
        apply_edit(change)
    if as_json:
        print_json({"client": install, "path": str(change.path), "written": written})
    elif written:
        kept = f"; the old file is kept as {change.backup}" if change.before is not None else ""
        print_line(f"written{kept}. Restart {install}.")
    return 0 if written or not change.is_needed else 1


def _show(change: ConfigEdit, *, err: bool) -> None:
    if not change.is_needed:
        print_line(f"{change.path} already has this entry", err=err)
        return
    verb = "changes" if change.before is not None else "creates"
    print_line(f"This {verb} {change.path} with:", err=err)
    for line in json.dumps({change.name: _without_token(change.entry)}, indent=2).splitlines():
        print_line(f"  {line}", err=err)


def _without_token(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry with its access token masked."""
    if "RECOLLECT_TOKEN" not in entry.get("env", {}):
        return entry
    return {**entry, "env": {**entry["env"], "RECOLLECT_TOKEN": "…"}}


def _confirm(change: ConfigEdit) -> bool:
    if not sys.stdin.isatty():
        print_line("nothing was written; add --yes to write it", err=True)
        return False
    return click.confirm("Write it?", default=False, err=True)


COMMANDS = (mcp,)
