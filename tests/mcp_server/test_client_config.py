"""`recollect mcp --install`: a client's own file, merged, shown first, and never lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from recollect.mcp_server.client_config import BACKUP, apply_edit, plan_edit
from recollect.schemas.errors import InvalidInput
from tests.cli.kit import Shell
from tests.mcp_server.kit import agent, command

FILES = {
    "claude": (".claude.json", "mcpServers"),
    "cursor": (".cursor/mcp.json", "mcpServers"),
    "vscode": (".config/Code/User/mcp.json", "servers"),
}


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    shell = Shell(tmp_path)
    shell.environment |= {"HOME": str(tmp_path)}
    shell.environment.pop("XDG_CONFIG_HOME", None)
    monkeypatch.setattr(sys, "platform", "linux")
    assert shell("init", "--encoder", "none").status == 0
    return shell


@pytest.mark.parametrize(
    "client",
    [
        pytest.param(client, marks=() if client == "claude" else pytest.mark.slow)
        for client in FILES
    ],
)
def test_what_it_writes_starts_the_server(shell: Shell, tmp_path: Path, client: str) -> None:
    name, key = FILES[client]
    done = shell("--zone", "ada", "mcp", "--install", client, "--yes")
    assert done.status == 0, done.err
    assert "recollect-ada" in done.out
    (entry,) = json.loads((tmp_path / name).read_text())[key].values()
    assert Path(entry["command"]).is_absolute()
    started = command(tmp_path)
    started.command, started.args = entry["command"], entry["args"]
    with agent(started) as connected:
        connected.call("retain", content="Ada sings.")
    assert "Ada sings." in shell("--zone", "ada", "recall", "Who sings?").out
    again = shell("--zone", "ada", "mcp", "--install", client, "--yes")
    assert "already" in again.out
    assert not (tmp_path / (name + BACKUP)).exists()


def test_what_is_there_stays_and_is_kept(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / ".cursor" / "mcp.json"
    file.parent.mkdir()
    before = (
        '{"mcpServers": {"other": {"command": "x"}, "recollect": {"command": "old"}}, "é": [1]}'
    )
    file.write_text(before, "utf-8")
    file.chmod(0o600)
    done = shell("mcp", "--install", "cursor", "--yes", "--read-only", "--tools", "mem0")
    assert done.status == 0, done.err
    held = json.loads(file.read_text("utf-8"))
    assert held["é"] == [1]
    assert held["mcpServers"]["other"] == {"command": "x"}
    assert held["mcpServers"]["recollect"]["args"][-4:] == ["mcp", "--tools", "mem0", "--read-only"]
    assert file.stat().st_mode & 0o777 == 0o600
    backup = file.with_name(file.name + BACKUP)
    assert backup.read_text("utf-8") == before
    assert backup.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in file.parent.iterdir()) == sorted([file.name, backup.name])


@pytest.mark.parametrize(
    "text", ['{"mcpServers": {}, // mine\n}', "[1]", '{"mcpServers": [1]}', "{", "\udcff"]
)
def test_a_file_that_it_cannot_read_is_not_touched(shell: Shell, tmp_path: Path, text: str) -> None:
    file = tmp_path / ".claude.json"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    done = shell("mcp", "--install", "claude", "--yes")
    assert done.status == 2
    assert str(file) in done.err
    assert file.read_bytes() == text.encode("utf-8", "surrogateescape")


def test_it_shows_what_it_writes_and_writes_nothing_unasked(shell: Shell, tmp_path: Path) -> None:
    done = shell("mcp", "--install", "claude")
    assert done.status == 1
    assert '"command"' in done.out
    assert "--yes" in done.err
    assert not (tmp_path / ".claude.json").exists()
    as_json = shell("mcp", "--install", "claude", "--yes", "--json")
    assert as_json.json() == [
        {"client": "claude", "path": str(tmp_path / ".claude.json"), "written": True}
    ]


def test_the_ledger_that_is_set_here_is_set_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("RECOLLECT_CACHE", raising=False)
    monkeypatch.setenv("RECOLLECT_LEDGER", "kafka://broker:9092")
    change = plan_edit("cursor", tmp_path / "home", "default")
    assert change.entry["env"] == {"RECOLLECT_LEDGER": "kafka://broker:9092"}
    monkeypatch.delenv("RECOLLECT_LEDGER")
    assert "env" not in plan_edit("cursor", tmp_path / "home", "default").entry


def test_a_file_that_changed_meanwhile_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    change = plan_edit("claude", tmp_path / "home", "default")
    (tmp_path / ".claude.json").write_text("{}")
    with pytest.raises(InvalidInput, match="changed in the meantime"):
        apply_edit(change)
    assert (tmp_path / ".claude.json").read_text() == "{}"


def test_a_file_behind_a_link_is_written_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    real = tmp_path / "dotfiles" / "claude.json"
    real.parent.mkdir()
    real.write_text("{}")
    os.symlink(real, tmp_path / ".claude.json")
    apply_edit(plan_edit("claude", tmp_path / "home", "default"))
    assert (tmp_path / ".claude.json").is_symlink()
    assert "recollect" in real.read_text()


def test_a_home_that_is_not_there_is_told_on_standard_error(tmp_path: Path) -> None:
    started = command(tmp_path / "none", "mcp")
    done = subprocess.run(
        [started.command, *started.args],
        env=started.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert "make one" in done.stderr
    assert "Traceback" not in done.stderr
