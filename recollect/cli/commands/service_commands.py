"""Commands of the query service: serve, token."""

from __future__ import annotations

import click

from recollect.cli.options import chosen, common, of_the_home
from recollect.cli.output import emit, quiet, say, strong

_RIGHTS = "read,write,forget,admin"


@click.command(epilog="Example: recollect serve --port 8420")
@common
@click.option("--host", metavar="ADDRESS", help="Address to listen at [127.0.0.1].")
@click.option("--port", type=int, metavar="N", help="Port; 0: any [8420].")
@click.option("--no-auth", is_flag=True, help="Ask for no token; on loopback alone.")
@click.option(
    "--readers", type=int, metavar="N", help="Processes that answer beside it, at most [1]."
)
def serve(
    home: str | None,
    zone: str | None,
    as_json: bool,
    host: str | None,
    port: int | None,
    no_auth: bool,
    readers: int | None,
) -> None:
    """Answer over HTTP, and decide what is published.

    It runs until Ctrl-C. Who asks needs a token: recollect token create.
    """
    made, _ = chosen(home, zone)
    settings = made.configuration.service(
        host=host, port=port, no_auth=no_auth or None, readers=readers
    )
    from recollect.streams.system.extras import needed

    with needed("service"):
        from recollect.integrations import facades
        from recollect.service.serving import serve as serve_

    def listening(url: str) -> None:
        if as_json:
            emit({"url": url})
        else:
            say(strong(url), quiet("  Ctrl-C ends it"))

    serve_(made, settings, listening, beside=facades.routers(), tool_sets=facades.TOOL_SETS)


@click.group(epilog="Example: recollect token create --zone ada --rights read,write")
def token() -> None:
    """Say who may ask the service, and what."""


@token.command(epilog="Example: recollect token create --zone ada --rights read,write")
@of_the_home
@click.option(
    "--zone", "zones", metavar="NAME", multiple=True, help="Zone, or '*' for all; any number."
)
@click.option(
    "--rights", default="read", show_default=True, help=f"Some of {_RIGHTS}, with commas."
)
@click.option("--user", metavar="NAME", help="Who holds it; events that come with it will say so.")
@click.option("--agent", metavar="NAME", help="What program holds it; likewise.")
@click.option("--expires", metavar="TIME", help="When it ends, ISO 8601 with a zone [never].")
def create(
    home: str | None,
    zones: tuple[str, ...],
    as_json: bool,
    rights: str,
    user: str | None,
    agent: str | None,
    expires: str | None,
) -> None:
    """Make a token; it is shown this once."""
    from recollect.cli.options import given_zone
    from recollect.home.access_tokens import AccessTokens
    from recollect.schemas.times import parse_query_time

    opened, _ = chosen(home, None)
    made = AccessTokens(opened.directory).create(
        zones or (given_zone(None),),
        [right.strip() for right in rights.split(",") if right.strip()],
        user=user,
        agent=agent,
        expires_at=None if expires is None else parse_query_time(expires, "--expires"),
    )
    if as_json:
        emit(made)
    else:
        say(made.token)


@token.command("list", epilog="Example: recollect token list")
@of_the_home
def list_(home: str | None, as_json: bool) -> None:
    """Show who may ask; never the secrets."""
    from recollect.home.access_tokens import AccessTokens

    opened, _ = chosen(home, None)
    for found in AccessTokens(opened.directory).tokens():
        if as_json:
            emit(found)
            continue
        until = f", until {found.expires_at}" if found.expires_at else ""
        used = f", last used {found.used_at}" if found.used_at else ", never used"
        whose = "".join(f" {name}" for name in (found.user, found.agent) if name)
        say(
            strong(found.id),
            f"{whose}: {', '.join(found.rights)} on {', '.join(found.zones)}",
            quiet(f"{until}{used}"),
        )


@token.command(epilog="Example: recollect token revoke 1f0c2ab94d5e6f70")
@click.argument("id_", metavar="ID")
@of_the_home
def revoke(id_: str, home: str | None, as_json: bool) -> None:
    """Take a token back, from now on, also in a service that runs."""
    from recollect.home.access_tokens import AccessTokens

    opened, _ = chosen(home, None)
    AccessTokens(opened.directory).revoke(id_)
    if as_json:
        emit({"id": id_, "revoked": True})
    else:
        say(f"{id_} opens nothing any more")


COMMANDS = (serve, token)
