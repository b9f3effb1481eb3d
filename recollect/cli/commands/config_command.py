"""The command that shows the settings: `config`."""

from __future__ import annotations

import click

from recollect.cli.options import configured, of_the_home
from recollect.cli.output import emit, quiet, say, strong


@click.command(epilog="Example: recollect config --json")
@of_the_home
def config(home: str | None, as_json: bool) -> None:
    """Show every setting, and where it is from.

    Of a secret it shows only that there is one.
    """
    from recollect.home.configuration import SETTINGS

    found = configured(home)
    rows = []
    for setting in SETTINGS.values():
        value, place = found.given(setting.key)
        if setting.secret and value is not None:
            value = "…"
        rows.append((setting, value, place))
    if as_json:
        emit(
            {
                "file": None if found.file is None else str(found.file),
                "settings": [
                    {
                        "key": setting.key,
                        "variable": setting.variable,
                        "value": value,
                        "from": place,
                        "means": setting.meaning,
                    }
                    for setting, value, place in rows
                ],
            }
        )
        return
    say("file  ", strong(str(found.file)) if found.file else quiet("none"))
    for setting, value, place in rows:
        line = f"{setting.key} = {_shown(value)}"
        say(line if place != "default" else quiet(line), quiet(f"  ({place})"))


def _shown(value: object) -> str:
    """Return a value as the file has it."""
    import msgspec

    return "not set" if value is None else msgspec.json.encode(value).decode()


COMMANDS = (config,)
