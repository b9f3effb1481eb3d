"""The command that shows the settings: `config`."""

from __future__ import annotations

import click

from recollect.cli.options import configured, home_options
from recollect.cli.output import print_json, print_line, quiet, strong


@click.command(epilog="Example: recollect config --json")
@home_options
def config(home: str | None, as_json: bool) -> None:
    """Show all settings, and where each value comes from.

    Secrets are masked.
    """
    from recollect.home.settings.configuration import SETTINGS

    values = configured(home)
    rows = []
    for setting in SETTINGS.values():
        value, origin = values.resolve(setting.key)
        if setting.secret and value is not None:
            value = "…"
        rows.append((setting, value, origin))
    if as_json:
        print_json(
            {
                "file": None if values.file is None else str(values.file),
                "settings": [
                    {
                        "key": setting.key,
                        "variable": setting.variable,
                        "value": value,
                        "from": origin,
                        "means": setting.description,
                    }
                    for setting, value, origin in rows
                ],
            }
        )
        return
    print_line("file  ", strong(str(values.file)) if values.file else quiet("none"))
    for setting, value, origin in rows:
        line = f"{setting.key} = {_as_toml(value)}"
        print_line(line if origin != "default" else quiet(line), quiet(f"  ({origin})"))


def _as_toml(value: object) -> str:
    """Return a value as the configuration file writes it."""
    import msgspec

    return "not set" if value is None else msgspec.json.encode(value).decode()


COMMANDS = (config,)
