"""G3: memories come in with import, and a zone goes out with export."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.kit import Shell, said


def test_an_export_comes_back_to_the_same_hashes(shell: Shell, tmp_path: Path) -> None:
    shell.ingest(said("m1", "I live in Turin."), said("m2", "I own a boat.\u202e"))
    shell("remember", "The key is under the mat.")
    exported = shell("export", str(tmp_path / "a.jsonl"))
    assert (exported.status, exported.out) == (0, f"exported 3 records to {tmp_path / 'a.jsonl'}\n")
    assert shell("export", str(tmp_path / "a.jsonl")).status == 2
    # What is printed is the same JSON.
    (tmp_path / "b.jsonl").write_text(shell("export", "-").out)
    mine = json.loads(shell("verify", "--json").out)["models"]
    for name in ("a", "b"):
        other = Shell(tmp_path / name)
        other.room.mkdir()
        assert other("init", "--encoder", "none").status == 0
        assert other("ingest", str(tmp_path / f"{name}.jsonl")).status == 0
        assert json.loads(other("verify", "--json").out)["models"] == mine


def test_what_was_left_out_is_counted(shell: Shell, tmp_path: Path) -> None:
    shell.ingest(said("m1", "I live in Turin."), said("m2", "I own a boat."))
    shell("forget", "m1", "--yes")
    exported = shell("export", "--as", "jsonl", str(tmp_path / "a.jsonl"))
    assert exported.out.splitlines()[1] == "left out: erased 1, forget 1"
    report = json.loads(shell("export", "--force", "--json", str(tmp_path / "a.jsonl")).out)
    assert (report["events"], report["left_out"]) == (1, {"erased": 1, "forget": 1})


def test_pages_are_counted(shell: Shell, tmp_path: Path) -> None:
    shell.ingest(said("m1", "I live in Turin."))
    for form in ("markdown", "okf"):
        exported = shell("export", "--as", form, str(tmp_path / form))
        assert exported.status == 0, exported.err
        assert exported.out.startswith("wrote ")
        assert any((tmp_path / form).glob("index*"))


@pytest.mark.parametrize("options", [["--as", "okf"], ["--force"], ["--json"]])
def test_standard_output_takes_events_alone(shell: Shell, options: list[str]) -> None:
    shell.ingest(said("m1", "I live in Turin."))
    assert shell("export", "-", *options).status == 2


def test_an_import_reports_what_came_in_and_what_a_file_looks_like(
    shell: Shell, tmp_path: Path
) -> None:
    memory = {"id": "1", "memory": "Ada owns a boat.", "created_at": "2026-01-01T00:00:00Z"}
    path = tmp_path / "memories.json"
    path.write_text(json.dumps({"results": [{**memory, "user_id": "ada"}]}))
    preview = shell("import", "--from", "mem0", "--dry-run", str(path))
    assert "remember 1" in preview.out
    done = json.loads(shell("import", "--from", "mem0", "--json", str(path)).out)
    assert (done["new"], done["rejected"]) == (1, 0)
    again = json.loads(shell("import", "--from", "mem0", "--json", str(path)).out)
    assert (again["new"], again["duplicate"]) == (0, 1)
    wrong = shell("import", "--from", "zep", str(path))
    assert (wrong.status, wrong.out) == (2, "")
    assert wrong.err.endswith("is not in the format of zep: it looks like mem0\n")
