"""The configuration file: where it is found, what goes before what, and what is wrong in it."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from recollect.home.settings.configuration import Configuration
from tests.cli.kit import Done, Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell(tmp_path)
    assert shell("init", "--encoder", "none").status == 0
    return shell


def written(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


def shown(done: Done) -> dict[str, tuple[object, str]]:
    """Return key -> value and where it comes from, as `config --json` says."""
    assert done.status == 0, done.err
    (document,) = done.json()
    return {row["key"]: (row["value"], row["from"]) for row in document["settings"]}


def test_an_option_goes_before_the_environment_and_that_before_the_file(
    shell: Shell, tmp_path: Path
) -> None:
    file = written(
        tmp_path / "mine.toml", 'home = "elsewhere"\nledger = "embedded"\n[service]\nport = 1\n'
    )
    shell.environment["RECOLLECT_PORT"] = "2"
    found = shown(shell("--config", str(file), "config", "--json"))
    assert found["service.port"] == (2, "RECOLLECT_PORT")
    assert found["home"] == (str(tmp_path / "home"), "RECOLLECT_HOME")
    assert found["ledger"] == ("embedded", f"{file} line 2")
    assert found["service.host"] == ("127.0.0.1", "default")
    del shell.environment["RECOLLECT_PORT"], shell.environment["RECOLLECT_HOME"]
    found = shown(shell("config", "--config", str(file), "--json"))
    assert found["service.port"] == (1, f"{file} line 4")
    assert found["home"] == ("elsewhere", f"{file} line 1")
    found = shown(shell("--config", str(file), "config", "--home", "here", "--json"))
    assert found["home"] == ("here", "--home")


def test_what_is_set_there_holds(shell: Shell, tmp_path: Path) -> None:
    """Also of what is read far below the command line: the cache, and the way to the ledger."""
    written(tmp_path / "home" / "recollect.toml", 'cache = "models"\nledger = "kafka://nowhere"\n')
    done = shell("status")
    assert done.status == 2
    assert "kafka://nowhere" in done.err
    written(tmp_path / "home" / "recollect.toml", 'ledger = "mine"\n')
    done = shell("status")
    assert done.status == 2
    assert "'mine'" in done.err
    assert f"{tmp_path / 'home' / 'recollect.toml'} line 1" in done.err
    shell.environment["RECOLLECT_LEDGER"] = "embedded"
    assert shell("status").status == 0


def test_the_file_is_the_named_one_else_the_home_s(shell: Shell, tmp_path: Path) -> None:
    written(tmp_path / "home" / "recollect.toml", "[service]\nport = 1\n")
    assert shown(shell("config", "--json"))["service.port"][0] == 1
    shell.environment["RECOLLECT_CONFIG"] = str(
        written(tmp_path / "2.toml", "[service]\nport = 2\n")
    )
    assert shown(shell("config", "--json"))["service.port"][0] == 2
    third = written(tmp_path / "3.toml", "[service]\nport = 3\n")
    assert shown(shell("--config", str(third), "config", "--json"))["service.port"][0] == 3
    done = shell("--config", "nothing.toml", "status")
    assert done.status == 2
    assert "nothing.toml" in done.err


def test_a_home_may_be_made_where_its_file_is_already(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    (tmp_path / "home").mkdir()
    written(tmp_path / "home" / "recollect.toml", "ticks = false\n")
    assert shell("init", "--encoder", "none").status == 0
    assert shown(shell("config", "--json"))["ticks"][0] is False


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("[service]\n\nprot = 1\n", 3, "service.port"),
        ("port = 1\n", 1, "service.port"),
        ("ticks = true\n[srevice]\nport = 1\n", 2, "service"),
        ("[service]\nport = 'x'\n", 2, "a whole number from 0 to 65535"),
        ("[service]\nport = 70000\n", 2, "a whole number from 0 to 65535"),
        ("service.port = true\n", 1, "a whole number from 0 to 65535"),
        ("[service]\nrequest_seconds = nan\n", 2, "a number above 0 and up to 86400"),
        ("[service]\nhosts = 'a,b'\n", 2, "a list of strings"),
        ("ticks = 'off'\n", 1, "true or false"),
        ("[kafka]\nsasl_mechanism = 'GSSAPI'\n", 2, "SCRAM-SHA-256"),
        ("kafka = 1\n", 1, "kafka"),
        ("home = '/tmp'\n", 1, "RECOLLECT_CONFIG"),
        ("[service]\nport = = 1\n", 2, "not valid TOML"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(
    shell: Shell, tmp_path: Path, text: str, line: int, said: str
) -> None:
    file = written(tmp_path / "home" / "recollect.toml", text)
    done = shell("status")
    assert done.status == 2
    assert str(file) in done.err
    assert f"line {line}" in done.err
    assert said in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("value", ["abc", "-1", "1.5", "65536"])
def test_a_variable_that_cannot_be_is_named(shell: Shell, value: str) -> None:
    shell.environment["RECOLLECT_PORT"] = value
    done = shell("serve")
    assert done.status == 2
    assert "RECOLLECT_PORT" in done.err
    assert value in done.err


@pytest.mark.parametrize(("mode", "warned"), [(0o600, False), (0o640, True), (0o644, True)])
def test_a_secret_that_others_may_read_is_warned_of_and_never_shown(
    shell: Shell, tmp_path: Path, mode: int, warned: bool
) -> None:
    text = '[client]\ntoken = "rct_hush"\n[kafka]\npassword = "hush"\n'
    file = written(tmp_path / "home" / "recollect.toml", text, mode)
    for arguments in (["config"], ["config", "--json"]):
        # In a process of its own, where nothing but the command handles warnings.
        screen = subprocess.run(
            [sys.executable, "-m", "recollect", *arguments],
            cwd=tmp_path,
            env=shell.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=True,
        ).stdout
        assert "client.token" in screen
        assert "hush" not in screen
        assert (f"chmod 600 {file}" in screen) == warned, screen
    written(file, '[kafka]\npassword = ["hush"]\n')
    assert "hush" not in shell("status").err


def test_another_process_is_given_the_settings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path))
    given = pickle.loads(pickle.dumps(Configuration()))
    monkeypatch.setenv("RECOLLECT_HOME", "elsewhere")
    assert given.home == tmp_path
