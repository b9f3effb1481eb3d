"""Proxies and certificates: loopback is asked straight, and a wrong setting is a sentence."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from recollect import Recollect, RecollectError
from recollect.remote import service_client
from recollect.streams.encoder.sources import HubSource
from recollect.streams.models.budget_tracker import BudgetTracker
from recollect.streams.models.chat import ChatRequest
from recollect.streams.models.model_client import ModelClient
from recollect.streams.models.model_settings import ModelSettings, load_accounts
from recollect.streams.system.http_clients import http_client, is_loopback, proxy_of

PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
#: Where nothing listens.
NOWHERE = "http://127.0.0.1:9"
_REFUSAL = b"HTTP/1.1 503 no\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
FAR = "http://memory.example:8420"


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy of the machine that runs the tests; try again at once."""
    for name in (*PROXIES, *map(str.upper, PROXIES)):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr(service_client, "_FIRST_WAIT", 0.001)


class Recorder:
    """A server of raw sockets that notes the first line of each request, and answers 503."""

    def __init__(self, *, socks: bool) -> None:
        self.lines: list[str] = []
        self._socks = socks
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> Recorder:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            with connection, connection.makefile("rwb") as stream:
                if self._socks and not self._greeted(stream):
                    continue
                line = stream.readline().decode().strip()
                if line:
                    self.lines.append(line)
                    while stream.readline().strip():
                        pass
                    stream.write(
                        b"HTTP/1.1 503 no\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                    )

    def _greeted(self, stream: object) -> bool:
        """Answer as a SOCKS5 proxy does (RFC 1928), and note where it is to connect to."""
        read, write = stream.read, stream.write  # type: ignore[attr-defined]
        head = read(2)
        if len(head) < 2:
            return False
        read(head[1])
        write(b"\x05\x00")
        stream.flush()  # type: ignore[attr-defined]
        _, _, _, kind = read(4)
        name = read(read(1)[0]).decode() if kind == 3 else socket.inet_ntoa(read(4))
        (port,) = struct.unpack("!H", read(2))
        self.lines.append(f"SOCKS {name}:{port}")
        write(b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x50")
        stream.flush()  # type: ignore[attr-defined]
        return True


@contextmanager
def recorder(*, socks: bool = False) -> Iterator[Recorder]:
    with Recorder(socks=socks) as found:
        yield found


def ask_service(url: str) -> None:
    with Recollect(url) as recollect:
        recollect.zone("ada").status()


def ask_model(url: str) -> None:
    settings = ModelSettings(accounts=(f"{url} model",), attempts=1)
    client = ModelClient(load_accounts(settings, {}), settings, BudgetTracker(None, settings))
    with closing(client):
        client.ask(ChatRequest(({"role": "user", "content": "?"},)))


def ask_hub(url: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_ENDPOINT", url)
        with HubSource("owner/model", "main").open("config.json"):
            pass


CLIENTS = pytest.mark.parametrize("ask", [ask_service, ask_model, ask_hub])


@CLIENTS
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_loopback_is_never_asked_through_a_proxy(
    monkeypatch: pytest.MonkeyPatch, ask: Callable[[str], None], host: str
) -> None:
    """FAULTS 22."""
    with recorder() as proxy, recorder() as server:
        for name in ("HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        with pytest.raises(RecollectError):
            ask(f"http://{host}:{server.port}")
        assert server.lines
        assert not proxy.lines


@CLIENTS
@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
@pytest.mark.parametrize("form", ["http://127.0.0.1:{}", "127.0.0.1:{}"])
def test_a_far_service_is_asked_through_the_proxy(
    monkeypatch: pytest.MonkeyPatch, ask: Callable[[str], None], variable: str, form: str
) -> None:
    with recorder() as proxy:
        monkeypatch.setenv(variable, form.format(proxy.port))
        with pytest.raises(RecollectError):
            ask(FAR)
        assert proxy.lines
        assert all(" http://memory.example:8420/" in line for line in proxy.lines)


@CLIENTS
def test_a_socks_proxy_carries_requests(
    monkeypatch: pytest.MonkeyPatch, ask: Callable[[str], None]
) -> None:
    """FAULTS 22."""
    with recorder(socks=True) as proxy:
        monkeypatch.setenv("ALL_PROXY", f"socks5://127.0.0.1:{proxy.port}")
        with pytest.raises(RecollectError):
            ask(FAR)
        assert "SOCKS memory.example:8420" in proxy.lines


@CLIENTS
def test_a_proxy_of_an_unknown_kind_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, ask: Callable[[str], None]
) -> None:
    """FAULTS 22."""
    monkeypatch.setenv("ALL_PROXY", "gopher://ada:s3cret@proxy:70")
    with pytest.raises(RecollectError, match="the proxy 'proxy:70' cannot be used") as caught:
        ask(FAR)
    assert "s3cret" not in str(caught.value)


@CLIENTS
@pytest.mark.parametrize("named", ["[::1]", "::1", "[::1]:8420", "fe80::/10", "*", ".example", ","])
def test_no_form_of_no_proxy_is_a_traceback(
    monkeypatch: pytest.MonkeyPatch, ask: Callable[[str], None], named: str
) -> None:
    """FAULTS 22."""
    monkeypatch.setenv("HTTP_PROXY", NOWHERE)
    monkeypatch.setenv("NO_PROXY", named)
    with recorder() as server, pytest.raises(RecollectError):
        ask(f"http://127.0.0.1:{server.port}")


@CLIENTS
def test_certificates_that_are_not_there_are_a_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ask: Callable[[str], None]
) -> None:
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "absent.crt"))
    with pytest.raises(RecollectError, match=r"the certificates in .*absent.crt cannot be read"):
        ask(FAR)


@pytest.mark.parametrize(
    ("no_proxy", "url", "straight"),
    [
        ("memory.example", "http://memory.example/", True),
        (".example", "https://memory.example/", True),
        ("example", "https://memory.example/", True),
        ("*", "https://memory.example/", True),
        ("memory.example:8420", "http://memory.example:8420/", True),
        ("memory.example:8420", "http://memory.example:8421/", False),
        ("other.example, memory.example", "http://memory.example/", True),
        ("mory.example", "http://memory.example/", False),
        ("[fd00::7]", "http://[fd00::7]:8420/", True),
        ("fd00::7", "http://[fd00::7]:8420/", True),
        ("fd00::8", "http://[fd00::7]:8420/", False),
        ("", "http://memory.example/", False),
    ],
)
def test_hosts_of_no_proxy_are_asked_straight(
    monkeypatch: pytest.MonkeyPatch, no_proxy: str, url: str, straight: bool
) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://proxy:3128")
    monkeypatch.setenv("NO_PROXY", no_proxy)
    assert (proxy_of(httpx.URL(url)) is None) == straight


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        *[(host, True) for host in ("localhost", "LOCALHOST.", "a.localhost", "127.8.9.1", "::1")],
        *[(host, True) for host in ("[::1]", "::ffff:127.0.0.1", "0.0.0.0", "::")],
        *[(host, False) for host in ("localhost.example", "128.0.0.1", "::2", "127.0.0.1.nip.io")],
    ],
)
def test_a_host_is_loopback_by_its_name_or_address(host: str, loopback: bool) -> None:
    assert is_loopback(host) == loopback


def test_a_proxy_that_is_given_goes_before_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", NOWHERE)
    with recorder() as proxy:
        given = f"http://127.0.0.1:{proxy.port}"
        with http_client(httpx.Timeout(5), proxy=given) as client:
            assert client.get(FAR).status_code == 503
        assert len(proxy.lines) == 1
