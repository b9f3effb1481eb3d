"""Folders and archives are taken as they come; what is hostile in them is named, the rest read."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from recollect.schemas.errors import InvalidInput
from tests.adapters.kit import Opened, opened, zipped


def lines(*texts: str) -> bytes:
    return b"".join(
        json.dumps(
            {
                "platform": "chat",
                "sender_id": "u1",
                "id": text,
                "occurred_at": "2026-05-08T13:56:00Z",
                "content": text,
            }
        ).encode()
        + b"\n"
        for text in texts
    )


def tar_of(members: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return made.getvalue()


MEMBERS = {
    "b/two.jsonl": lines("two"),
    "a.jsonl": lines("one"),
    "b/three.jsonl.gz": gzip.compress(lines("three")),
    "b/picture.png": b"\x89PNG",
    "notes.json": b'{"title": "no events"}',
    "__MACOSX/._a.jsonl": b"\x00\x05",
}


def given(tmp_path: Path, form: str) -> Path:
    """Return the same files in some form."""
    if form == "folder":
        for name, content in MEMBERS.items():
            path = tmp_path / "export" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return tmp_path / "export"
    path = tmp_path / f"export.{form}"
    made = {"zip": zipped, "tar": tar_of, "tar.gz": lambda what: gzip.compress(tar_of(what))}
    path.write_bytes(made[form](MEMBERS))
    return path


@pytest.mark.parametrize("form", ["folder", "zip", "tar", "tar.gz"])
def test_files_are_read_in_the_order_of_names_and_others_are_passed_over(
    tmp_path: Path, form: str
) -> None:
    path = given(tmp_path, form)
    found = opened(path)
    assert found.texts == ["one", "three", "two"]
    assert found.rejections == []
    (skipped,) = found.input.skipped
    assert (skipped.path, skipped.files) == (str(path), 2)
    assert sorted(skipped.names) == ["notes.json", "picture.png"]


def test_an_archive_in_a_folder_is_opened(tmp_path: Path) -> None:
    (tmp_path / "in.zip").write_bytes(zipped({"a.jsonl": lines("one")}))
    (tmp_path / "report.docx").write_bytes(zipped({"b.jsonl": lines("no export")}))
    assert opened(tmp_path).texts == ["one"]


def test_a_folder_without_any_export_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.dat").write_text("hi")
    with pytest.raises(InvalidInput, match=r"none of its 1 files \(a.dat\) is in a known format"):
        opened(tmp_path)
    (tmp_path / "a.dat").unlink()
    with pytest.raises(InvalidInput, match="no file is in a known format"):
        opened(tmp_path)


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.jsonl").write_bytes(lines("secret"))
    folder = tmp_path / "export"
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(lines("one"))
    (folder / "b.jsonl").symlink_to(tmp_path / "secret.jsonl")
    (folder / "up").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe")
    found = opened(folder)
    assert found.texts == ["one"]
    assert found.input.skipped[0].files == 3


def hostile(found: Opened) -> dict[str, str]:
    return {
        rejection.path.partition(".zip/")[2]: rejection.reason for rejection in found.rejections
    }


def test_a_name_that_leads_out_of_an_archive_is_refused_and_the_rest_is_read(
    tmp_path: Path,
) -> None:
    names = [
        "../up.jsonl",
        "/root.jsonl",
        "a/../../b.jsonl",
        "c:/d.jsonl",
        "a\\..\\..\\y.jsonl",
        "\\\\server\\y.jsonl",
        "a//b.jsonl",
    ]
    members = {name: lines("bad") for name in names} | {"good.jsonl": lines("good")}
    path = tmp_path / "e.zip"
    path.write_bytes(zipped(members))
    found = opened(path)
    assert found.texts == ["good"]
    assert len(found.rejections) == len(names)
    assert all(
        "is an absolute path" in reason or "points outside the archive" in reason
        for reason in hostile(found).values()
    )


def test_names_are_read_as_they_were_written(tmp_path: Path) -> None:
    """By programs of Windows, which part folders by a backslash, and by those that hide UTF-8."""
    packed = zipped({"folder\\one.jsonl": lines("one"), "xxxxxx.jsonl": lines("two")})
    path = tmp_path / "e.zip"
    path.write_bytes(packed.replace(b"xxxxxx", "Jürge".encode()))
    found = opened(path)
    assert [export.path.partition(".zip/")[2] for export in found.input.exports] == [
        "Jürge.jsonl", "folder/one.jsonl",
    ]  # fmt: skip
    assert sorted(found.texts) == ["one", "two"]
    path.write_bytes(packed.replace(b"xxxxxx", b"J\x81rgen"))
    found = opened(path)
    assert found.input.exports[0].path.endswith("Jürgen.jsonl")


def test_an_archive_in_an_archive_is_opened_and_one_in_that_is_not(tmp_path: Path) -> None:
    inmost = zipped({"three.jsonl": lines("three")})
    inner = zipped({"two.jsonl": lines("two"), "inmost.zip": inmost})
    broken = zipped({"four.jsonl": lines("four")})[:-30]
    path = tmp_path / "outer.zip"
    path.write_bytes(zipped({
        "one.jsonl": lines("one"), "inner.zip": inner, "broken.zip": broken,
        "__MACOSX/._inner.zip": b"\0\5\x16\7", ".DS_Store": b"\0\0\0\1Bud1",
    }))  # fmt: skip
    found = opened(path)
    assert sorted(found.texts) == ["one", "two"]
    assert list(hostile(found)) == ["broken.zip"]
    assert [one.names for one in found.input.skipped] == [["inmost.zip"]]


def test_what_unpacks_to_far_too_much_is_refused_by_name_and_the_rest_is_read(
    tmp_path: Path,
) -> None:
    path = tmp_path / "e.zip"
    # What makes the archive as a whole look as others do.
    ballast = os.urandom(1 << 20)
    path.write_bytes(
        zipped({"a.jsonl": lines("one"), "bomb.jsonl": bytes(100 << 20), "photo.jpg": ballast})
    )
    found = opened(path)
    assert found.texts == ["one"]
    assert list(hostile(found)) == ["bomb.jsonl"]
    assert "200 times its size" in hostile(found)["bomb.jsonl"]
    path.write_bytes(zipped({"bomb.jsonl": bytes(100 << 20)}))
    with pytest.raises(InvalidInput, match="too much for its size"):
        opened(path)


def test_a_packed_file_that_unpacks_to_far_too_much_ends_there(tmp_path: Path) -> None:
    path = tmp_path / "bomb.jsonl.gz"
    path.write_bytes(gzip.compress(lines("one") + (b" " * 1023 + b"\n") * (100 << 10)))
    found = opened(path)
    assert found.texts == ["one"]
    assert "200 times its size" in found.rejections[0].reason
    path = tmp_path / "bomb.tar.gz"
    path.write_bytes(gzip.compress(tar_of({"a.jsonl": lines("one"), "b": bytes(100 << 20)})))
    with pytest.raises(InvalidInput, match="200 times its size"):
        opened(path)


def test_an_encrypted_member_is_refused_by_name(tmp_path: Path) -> None:
    made = bytearray(zipped({"a.jsonl": lines("one"), "b.jsonl": lines("two")}))
    # The flag of encryption, in the second entry of the archive's directory.
    entry = made.rindex(b"PK\x01\x02")
    made[entry + 8] |= 1
    path = tmp_path / "e.zip"
    path.write_bytes(bytes(made))
    found = opened(path)
    assert found.texts == ["one"]
    assert list(hostile(found)) == ["b.jsonl"]
    entry = made.index(b"PK\x01\x02")
    made[entry + 8] |= 1
    path.write_bytes(bytes(made))
    with pytest.raises(InvalidInput, match=r"e\.zip is encrypted"):
        opened(path)


def test_a_damaged_member_loses_nothing_of_the_others(tmp_path: Path) -> None:
    many = lines(*(os.urandom(20).hex() for _ in range(3_000)))
    made = bytearray(zipped({"a.jsonl": many, "b.jsonl": lines("two")}))
    made[len(made) // 2] ^= 0xFF
    path = tmp_path / "e.zip"
    path.write_bytes(bytes(made))
    found = opened(path)
    assert found.texts[-1] == "two"
    assert {rejection.path for rejection in found.rejections} == {f"{path}/a.jsonl"}
    assert any("damaged or cut off" in rejection.reason for rejection in found.rejections)


def test_a_member_that_stands_twice_is_read_once(tmp_path: Path) -> None:
    first, second = zipped({"a.jsonl": lines("one")}), zipped({"b.jsonl": lines("two")})
    assert len(first) == len(second)
    path = tmp_path / "e.zip"
    made = zipped({"a.jsonl": lines("one"), "b.jsonl": lines("two")})
    path.write_bytes(made.replace(b"b.jsonl", b"a.jsonl"))
    found = opened(path)
    assert found.texts == ["one"]
    assert "twice" in found.rejections[0].reason


def test_a_tar_that_is_cut_off_gives_what_came_before(tmp_path: Path) -> None:
    made = tar_of({"a.jsonl": lines("one"), "b.jsonl": lines(*map(str, range(2_000)))})
    for name, content in (("e.tar", made), ("e.tar.gz", gzip.compress(made))):
        path = tmp_path / name
        path.write_bytes(content[: len(content) * 2 // 3])
        found = opened(path)
        assert found.texts[:2] == ["one", "0"]
        assert 1 < len(found.texts) < 2_001
        assert any("cut off" in rejection.reason for rejection in found.rejections)


def test_an_archive_comes_through_standard_input_as_well(tmp_path: Path) -> None:
    path = given(tmp_path, "zip")
    done = subprocess.run(
        [sys.executable, "-m", "recollect", "extract", "--json", "-"],
        input=path.read_bytes(),
        capture_output=True,
        check=True,
        timeout=120,
    )
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == ["one", "three", "two"]


def test_a_time_zone_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines("one"))
    for name in ("Middle/Earth", "", "../../etc/passwd", "/etc/localtime"):
        with pytest.raises(InvalidInput, match="there is no time zone"):
            opened(tmp_path, timezone=name)
    with pytest.raises(InvalidInput, match="choose from dmy, mdy, ymd"):
        opened(tmp_path, date_order="ydm")


@pytest.mark.parametrize("packed", [False, True], ids=["folders", "zip"])
@pytest.mark.parametrize(("levels", "read"), [(100, True), (101, False), (400, False)])
def test_folders_without_end_are_a_rejection(
    tmp_path: Path, packed: bool, levels: int, read: bool
) -> None:
    deep = "d/" * levels
    path = tmp_path / "export"
    if packed:
        path.write_bytes(zipped({"a.jsonl": lines("a"), f"{deep}b.jsonl": lines("b")}))
    else:
        (path / deep).mkdir(parents=True)
        (path / "a.jsonl").write_bytes(lines("a"))
        (path / deep / "b.jsonl").write_bytes(lines("b"))
    found = opened(path)
    assert found.texts == (["a", "b"] if read else ["a"])
    assert ["100 levels" in one.reason for one in found.rejections] == [True] * (not read)
