"""The table of settings, and the files with which a service is run, are as the code is."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from recollect.cli.app import cli
from recollect.service.service_settings import VARIABLES, ServiceSettings, read_settings
from recollect.service.serving import _GRACE_SECONDS

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
UNIT = (DOCS / "recollect.service").read_text()
FILE = (DOCS / "recollect.env").read_text()
#: What no such file says: where the home is, who asks the service, how tests kill it.
NOT_OF_A_FILE = {
    *("RECOLLECT_HOME", "RECOLLECT_CACHE", "RECOLLECT_FAILPOINT"),
    *("RECOLLECT_TOKEN", "RECOLLECT_URL", "RECOLLECT_ZONE"),
}


def table() -> dict[str, str]:
    """Return setting -> default, as the table of settings has them."""
    section = (DOCS / "reference.md").read_text().split("\n## Settings")[1].split("\n## ")[0]
    rows = [line.replace("\\|", "/").split("|")[1:-1] for line in section.splitlines()]
    return {
        name: default.strip().strip("`")
        for names, _, default in (row for row in rows if len(row) == 3)
        for name in re.findall(r"`(.+?)`", names)
    }


def in_code() -> set[str]:
    """Return every variable that the code names."""
    return {
        name
        for package in ("schemas", "projections", "streams", "recollect")
        for path in (ROOT / package).rglob("*.py")
        for name in re.findall(
            r"[\"'](RECOLLECT_[A-Z_]*[A-Z]|HF_[A-Z_]*[A-Z])[\"']", path.read_text()
        )
    }


def given(text: str) -> dict[str, str]:
    """Return what a file of settings has, also what is commented out."""
    return dict(re.findall(r"^#?([A-Z_]+)=(.*)$", text, re.MULTILINE))


def test_the_table_has_every_variable_of_the_code_and_no_other() -> None:
    named = {name for name in table() if name.startswith(("RECOLLECT_", "HF_"))}
    assert named == in_code()


def test_the_table_has_the_service_s_defaults() -> None:
    found, usual = table(), ServiceSettings()
    for variable, name in VARIABLES.items():
        value = getattr(usual, name)
        shown = "its own" if value == () else f"{value:g}" if value < 1e6 else str(value)
        assert found[variable] == shown, variable
    assert found["serve --host"] == usual.host
    assert found["serve --port"] == str(usual.port)


@pytest.mark.parametrize("command", ["serve", "worker"])
def test_the_table_has_the_options_of_what_runs_for_long(command: str) -> None:
    usual = {"--home", "--zone", "--json", "--once"}
    options = {
        f"{command} {option.opts[0]}"
        for option in cli.commands[command].params
        if isinstance(option, click.Option) and not usual & set(option.opts)
    }
    assert options == {name for name in table() if name.startswith(f"{command} ")}


def test_the_file_of_settings_has_all_that_a_service_reads_at_their_defaults() -> None:
    lines, found = given(FILE), table()
    assert (
        set(lines) == {name for name in in_code() if name.startswith("RECOLLECT_")} - NOT_OF_A_FILE
    )
    for name, value in lines.items():
        if value and name not in ("RECOLLECT_HOSTS", "RECOLLECT_ORIGINS"):
            assert value == found[name], name
    settings = read_settings("127.0.0.1", 8420, no_auth=False, environment=lines)
    assert settings.hosts == ("memory.example.org",)
    assert settings.body_bytes == ServiceSettings().body_bytes


def test_the_unit_runs_the_service_as_a_user_of_its_own_who_writes_to_its_home_alone() -> None:
    said = re.findall(r"^([A-Z]\w+)=(.*)$", UNIT, re.MULTILINE)
    only = {name: value for name, value in said if name != "Environment"}
    assert only["ExecStart"].endswith("/recollect serve")
    assert only["User"] not in ("", "root")
    assert only["Restart"] == "on-failure"
    assert (only["NoNewPrivileges"], only["ProtectSystem"]) == ("yes", "strict")
    assert int(only["TimeoutStopSec"]) > _GRACE_SECONDS
    places = dict(value.split("=") for name, value in said if name == "Environment")
    assert set(places) == {"RECOLLECT_HOME", "RECOLLECT_CACHE"}
    assert sorted(only["ReadWritePaths"].split()) == sorted(places.values())
    assert only["EnvironmentFile"] == "-/etc/recollect.env"


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
    source = (ROOT / "recollect" / "service" / "service_metrics.py").read_text()
    page = (DOCS / "service.md").read_text()
    names = re.findall(r'"(recollect_\w+)"', source)
    assert len(names) >= 7
    for name in names:
        assert re.search(rf"`{name}(_total)?`", page), name
