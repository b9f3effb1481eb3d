"""The table of settings, and the files with which a service is run, are as the code is."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from recollect.cli.app import cli
from recollect.home.settings.configuration import SETTINGS, Configuration
from recollect.home.settings.service_settings import ServiceSettings
from recollect.service.serving import _GRACE_SECONDS

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
UNIT = (DOCS / "recollect.service").read_text()
FILE = (DOCS / "recollect.toml").read_text()


class Row(NamedTuple):
    """A row of the table of settings, as somebody reads it."""

    variable: str
    option: str
    means: str
    values: str
    default: str


def settings_page() -> str:
    """Return the reference's page on settings."""
    return (DOCS / "reference" / "settings.md").read_text()


def table() -> dict[str, Row]:
    """Return key -> row, as the table of settings has them."""
    rows = [
        [cell.strip().replace("`", "") for cell in line.split("|")[1:-1]]
        for line in settings_page().splitlines()
    ]
    return {row[0]: Row(*row[1:]) for row in rows if len(row) == 6 and row[1].isupper()}


def in_code() -> set[str]:
    """Return every variable that the code names by itself."""
    return {
        name
        for package in ("schemas", "projections", "streams", "recollect")
        for path in (ROOT / package).rglob("*.py")
        for name in re.findall(
            r"[\"'](RECOLLECT_[A-Z_]*[A-Z]|HF_[A-Z_]*[A-Z])[\"']", path.read_text()
        )
    }


def test_the_table_has_every_setting_as_the_code_declares_it_and_no_other() -> None:
    rows = table()
    assert list(rows) == list(SETTINGS)
    for key, setting in SETTINGS.items():
        row = rows[key]
        assert (row.variable, row.means, row.values) == (
            setting.variable,
            setting.description,
            setting.type_description,
        )


def test_the_table_has_the_defaults() -> None:
    """What the code leaves open, the table says in words."""
    for key, row in table().items():
        usual = SETTINGS[key].default
        if usual is None or usual == ():
            assert f"`{row.default}`" not in settings_page(), key
        elif isinstance(usual, str):
            assert row.default == usual, key
        else:
            assert tomllib.loads(f"it = {row.default}")["it"] == usual, key


def test_every_variable_of_the_code_is_in_the_tables() -> None:
    assert in_code() <= set(re.findall(r"`((?:RECOLLECT|HF)_[A-Z_]+)`", settings_page()))


@pytest.mark.parametrize("command", ["serve", "worker"])
def test_the_table_has_the_options_of_what_runs_for_long(command: str) -> None:
    usual = {"--home", "--config", "--zone", "--json", "--once"}
    options = {
        f"{command} {option.opts[0]}"
        for option in cli.commands[command].params
        if isinstance(option, click.Option) and not usual & set(option.opts)
    }
    assert options == {row.option for row in table().values() if row.option.startswith(command)}


def test_the_file_of_settings_has_all_of_them_at_their_defaults(tmp_path: Path) -> None:
    """Where one has no default, the file has an example."""
    file = tmp_path / "all.toml"
    file.write_text(re.sub(r"^#(\w+ = )", r"\1", FILE, flags=re.MULTILINE))
    written = tomllib.loads(file.read_text())
    flat = {
        f"{name}.{field}" if isinstance(value, dict) else name: found
        for name, value in written.items()
        for field, found in (value.items() if isinstance(value, dict) else [("", value)])
    }
    assert list(flat) == list(SETTINGS)
    read = Configuration(file=file, environment={})
    for key, setting in SETTINGS.items():
        if setting.default not in (None, ()) and key not in ("home", "cache"):
            assert read.resolve(key).value == setting.default, key


def test_the_unit_runs_the_service_as_a_user_of_its_own_who_writes_to_its_home_alone() -> None:
    said = re.findall(r"^([A-Z]\w+)=(.*)$", UNIT, re.MULTILINE)
    only = dict(said)
    assert only["ExecStart"].endswith("/recollect --config /etc/recollect.toml serve")
    assert only["User"] not in ("", "root")
    assert only["Restart"] == "on-failure"
    assert (only["NoNewPrivileges"], only["ProtectSystem"]) == ("yes", "strict")
    assert int(only["TimeoutStopSec"]) > _GRACE_SECONDS
    places = tomllib.loads(FILE)
    assert sorted(only["ReadWritePaths"].split()) == sorted([places["home"], places["cache"]])


def test_the_proxy_hands_the_name_on_buffers_nothing_and_shows_no_metrics() -> None:
    proxy = (DOCS / "nginx.conf").read_text()
    assert "location = /metrics {\n        return 404;" in proxy
    assert "proxy_set_header Host $host;" in proxy
    assert "proxy_pass http://127.0.0.1:8420;" in proxy
    (waits,) = re.findall(r"proxy_read_timeout (\d+)s;", proxy)
    assert int(waits) > ServiceSettings().wait_seconds
    for line in ("proxy_buffering off;", "proxy_request_buffering off;", "client_max_body_size 0;"):
        assert line in proxy


def test_every_metric_is_documented() -> None:
    source = (ROOT / "recollect" / "service" / "http" / "service_metrics.py").read_text()
    page = (DOCS / "reference" / "http.md").read_text()
    names = re.findall(r'"(recollect_\w+)"', source)
    assert len(names) >= 7
    for name in names:
        assert re.search(rf"`{name}(_total)?`", page), name
