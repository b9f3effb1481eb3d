"""Commands of the HTTP service: serve, token."""

from __future__ import annotations

import click

from recollect.cli.options import common_options, home_and_zone, home_options
from recollect.cli.output import print_json, print_line, quiet, strong

_RIGHTS = "read,write,forget,admin"


@click.command(epilog="Example: recollect serve --port 8420")
@common_options
@click.option("--host", metavar="ADDRESS", help="Address to listen on [default: 127.0.0.1].")
@click.option("--port", type=int, metavar="N", help="Port; 0 picks a free one [default: 8420].")
@click.option("--no-auth", is_flag=True, help="Disable authentication (loopback addresses only).")
@click.option(
    "--recall-workers",
    type=int,
    metavar="N",
    help="Maximum number of additional processes that answer recalls [default: 1].",
)
def serve(
    home: str | None,
    zone: str | None,
    as_json: bool,
    host: str | None,
    port: int | None,
    no_auth: bool,
    recall_workers: int | None,
) -> None:
    """Serve memory over HTTP, and process events as they arrive.

    Runs until Ctrl-C, for all zones; --zone has no effect. Clients need an access token, which says
    which zones they can use: recollect token create.
    """
    selected, _ = home_and_zone(home, zone)
    settings = selected.configuration.service(
        host=host, port=port, no_auth=no_auth or None, recall_workers=recall_workers
    )
    from recollect.streams.system.extras import needed

    with needed("service"):
        from recollect.integrations import facades
        from recollect.page import page_routes
        from recollect.service.serving import serve as serve_

    def listening(url: str) -> None:
        if as_json:
            print_json({"url": url})
        else:
            print_line(strong(url), quiet("  stop with Ctrl-C"))

    serve_(
        selected,
        settings,
        listening,
        extra_routes=(page_routes.router(), *facades.routers()),
        tool_sets=facades.TOOL_SETS,
    )


@click.group(epilog="Example: recollect token create --zone ada --rights read,write")
def token() -> None:
    """Manage access tokens for the service."""


@token.command(epilog="Example: recollect token create --zone ada --rights read,write")
@home_options
@click.option(
    "--zone",
    "zones",
    metavar="NAME",
    multiple=True,
    help="Zone that the token gives access to, or '*' for all. Repeatable [default: default].",
)
@click.option(
    "--rights",
    default="read",
    show_default=True,
    help=f"Comma-separated rights, any of {_RIGHTS}.",
)
@click.option(
    "--user", metavar="NAME", help="User that the token is for; recorded on events sent with it."
)
@click.option(
    "--agent",
    metavar="NAME",
    help="AI agent that the token is for; recorded on events sent with it.",
)
@click.option(
    "--expires", metavar="TIME", help="Expiry time, ISO 8601 with a UTC offset [default: never]."
)
def create(
    home: str | None,
    zones: tuple[str, ...],
    as_json: bool,
    rights: str,
    user: str | None,
    agent: str | None,
    expires: str | None,
) -> None:
    """Create an access token; it is shown only once."""
    from recollect.cli.options import given_zone
    from recollect.home.access_tokens import AccessTokens
    from recollect.schemas.times import parse_query_time

    selected, _ = home_and_zone(home, None)
    created = AccessTokens(selected.directory).create(
        zones or (given_zone(None),),
        [right.strip() for right in rights.split(",") if right.strip()],
        user=user,
        agent=agent,
        expires_at=None if expires is None else parse_query_time(expires, "--expires"),
    )
    if as_json:
        print_json(created)
    else:
        print_line(created.token)


@token.command("list", epilog="Example: recollect token list")
@home_options
def list_(home: str | None, as_json: bool) -> None:
    """List access tokens, without their secrets."""
    from recollect.home.access_tokens import AccessTokens

    selected, _ = home_and_zone(home, None)
    for token_ in AccessTokens(selected.directory).tokens():
        if as_json:
            print_json(token_)
            continue
        expiry = f", until {token_.expires_at}" if token_.expires_at else ""
        used = f", last used {token_.used_at}" if token_.used_at else ", never used"
        holder = "".join(f" {name}" for name in (token_.user, token_.agent) if name)
        print_line(
            strong(token_.id),
            f"{holder}: {', '.join(token_.rights)} on {', '.join(token_.zones)}",
            quiet(f"{expiry}{used}"),
        )


@token.command(epilog="Example: recollect token revoke 1f0c2ab94d5e6f70")
@click.argument("id_", metavar="ID")
@home_options
def revoke(id_: str, home: str | None, as_json: bool) -> None:
    """Revoke an access token; running services reject it at once."""
    from recollect.home.access_tokens import AccessTokens

    selected, _ = home_and_zone(home, None)
    AccessTokens(selected.directory).revoke(id_)
    if as_json:
        print_json({"id": id_, "revoked": True})
    else:
        print_line(f"revoked {id_}")


COMMANDS = (serve, token)
