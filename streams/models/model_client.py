"""HTTP client for chat models, with account rotation, retries, limits and budgets."""

from __future__ import annotations

import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakSet

from recollect.schemas.errors import AlreadyClosed, InvalidInput, Unavailable
from recollect.streams.models.budget_tracker import BudgetTracker, Usage
from recollect.streams.models.chat import (
    ChatCompletion,
    ChatRequest,
    InvalidCompletion,
    estimated_tokens,
    parse_completion,
)
from recollect.streams.models.model_settings import Account, ModelSettings

if TYPE_CHECKING:
    import httpx

_MAX_RESPONSE_BYTES = 4_000_000
_CONNECT_SECONDS = 10.0
_INITIAL_BACKOFF_SECONDS = 0.5
#: The longest wait between attempts; a longer Retry-After is cut to it.
_MAX_BACKOFF_SECONDS = 60.0
#: httpcore's trace events of an open connection.
_CONNECTED = frozenset({"connection.connect_tcp.complete", "connection.start_tls.complete"})
#: Rate limits and server errors.
_RETRYABLE = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
#: The account is rejected.
_AUTH_FAILURES = frozenset({401, 402, 403})


class ModelUnavailable(Unavailable):
    """No model answered; the message says why. A later request may succeed."""


class PromptRejected(ModelUnavailable):
    """A service rejects this prompt, for example as too long; a retry would fail too."""


class _Failure(NamedTuple):
    """A failed attempt; `wait`: cooldown in seconds, None to disable the account.

    `prompt_rejected`: the service rejects the prompt, not the account.
    """

    reason: str
    wait: float | None
    prompt_rejected: bool = False


class ModelClient:
    """A client for the models of several accounts. Thread-safe; `close` interrupts all waits."""

    def __init__(
        self,
        accounts: Sequence[Account],
        settings: ModelSettings,
        budget: BudgetTracker,
        *,
        initial_backoff: float = _INITIAL_BACKOFF_SECONDS,
    ) -> None:
        """`initial_backoff`: seconds before the second attempt; the wait doubles each time."""
        self.accounts = tuple(accounts)
        self.settings = settings
        self.budget = budget
        self._initial_backoff = initial_backoff
        self._slots = threading.BoundedSemaphore(settings.concurrency)
        self._lock = threading.Lock()
        self._cooldowns: dict[int, float] = {}
        self._disabled: dict[int, str] = {}
        self._next_account = 0
        self._active = 0
        self._closing = threading.Event()
        self._http: httpx.Client | None = None
        self._sockets: WeakSet[socket.socket] = WeakSet()
        #: Attempts by outcome: "answered", or the reason of the failure.
        self.counts: Counter[str] = Counter()

    @property
    def model(self) -> str:
        """The first account's model, which identifies the writer."""
        return self.accounts[0].model

    def ask(self, request: ChatRequest) -> ChatCompletion:
        """Return a model's reply.

        Raises:
            BudgetExceeded: the budget is exhausted.
            PromptRejected: a service rejects the prompt.
            ModelUnavailable: no attempt succeeded.
            AlreadyClosed: the client was closed.
        """
        with self._slots, self._active_request():
            reason = "no attempt was made"
            for attempt in range(self.settings.attempts):
                index = self._pick_account()
                answer = self._attempt(self.accounts[index], request)
                if isinstance(answer, ChatCompletion):
                    self._note("answered")
                    return answer
                reason = f"{self.accounts[index].name} {answer.reason}"
                if answer.prompt_rejected:
                    raise PromptRejected(reason)
                with self._lock:
                    if answer.wait is None:
                        self._disabled[index] = answer.reason
                    else:
                        backed_off = self._initial_backoff * 2**attempt * (1 + random.random() / 2)
                        rest = min(max(answer.wait, backed_off), _MAX_BACKOFF_SECONDS)
                        self._cooldowns[index] = time.monotonic() + rest
            raise ModelUnavailable(f"no model answered: {reason}; try again later")

    def close(self) -> None:
        """Interrupt open requests and refuse new ones."""
        with self._lock:
            self._closing.set()
            idle = not self._active
            for connection in self._sockets:
                _shut_down(connection)
        if self._http is not None:
            self._http.close()
        if idle:
            self.budget.close()

    @contextmanager
    def _active_request(self) -> Iterator[None]:
        """Count open requests; the last one of a closed client closes the budget."""
        with self._lock:
            if self._closing.is_set():
                raise AlreadyClosed("the model client is closed")
            self._active += 1
        try:
            yield
        except ModelUnavailable:
            if self._closing.is_set():
                raise AlreadyClosed("the model client is closed") from None
            raise
        finally:
            with self._lock:
                self._active -= 1
                last = self._closing.is_set() and not self._active
            if last:
                self.budget.close()

    def _pick_account(self) -> int:
        """Return the index of the next available account; wait while all cool down."""
        while True:
            if self._closing.is_set():
                raise AlreadyClosed("the model client is closed")
            with self._lock:
                now = time.monotonic()
                enabled = [
                    index for index in range(len(self.accounts)) if index not in self._disabled
                ]
                if not enabled:
                    reasons = "; ".join(
                        f"{self.accounts[index].name} {why}"
                        for index, why in self._disabled.items()
                    )
                    raise ModelUnavailable(f"every account was rejected: {reasons}")
                in_turn = sorted(
                    enabled, key=lambda index: (index - self._next_account) % len(self.accounts)
                )
                ready = [index for index in in_turn if self._cooldowns.get(index, 0.0) <= now]
                if ready:
                    self._next_account = ready[0] + 1
                    return ready[0]
                earliest = min(self._cooldowns[index] for index in enabled)
            self._closing.wait(max(earliest - now, 0.0))

    def _attempt(self, account: Account, request: ChatRequest) -> ChatCompletion | _Failure:
        body = request.body(account.model, self.settings.answer_tokens)
        expected_in, max_out = estimated_tokens(len(body)), self.settings.answer_tokens
        reserved = Usage(1, expected_in + max_out, self.settings.cost(expected_in, max_out))
        day = self.budget.reserve(reserved.tokens, reserved.cost)
        # An interrupted request is charged in full: the service may have answered it.
        actual = reserved
        try:
            found, actual = self._send(account, body, reserved)
        finally:
            self.budget.settle(day, reserved, actual)
        return found

    def _send(
        self, account: Account, body: bytes, reserved: Usage
    ) -> tuple[ChatCompletion | _Failure, Usage]:
        """Return an account's reply, or the failure, and the usage to charge."""
        import httpx

        deadline = time.monotonic() + self.settings.seconds
        unsent = Usage(1)
        try:
            with self._client().stream(
                "POST",
                f"{account.url}/chat/completions",
                content=body,
                headers={"Content-Type": "application/json", **account.headers},
                extensions={"trace": self._note_connection},
            ) as response:
                content = bytearray()
                for chunk in response.iter_bytes():
                    content += chunk
                    if len(content) > _MAX_RESPONSE_BYTES:
                        return self._failed("sent too long a response", 0.0), reserved
                    if time.monotonic() > deadline:
                        return self._failed("took too long", 0.0), reserved
        except httpx.TimeoutException:
            return self._failed("took too long", 0.0), reserved
        except httpx.ProxyError as error:
            return self._failed(f"cannot be reached: {error}", 0.0), unsent
        except (httpx.TransportError, httpx.DecodingError) as error:
            if self._closing.is_set():
                return self._failed("was closed", 0.0), reserved
            return self._failed(f"cannot be reached ({type(error).__name__})", 0.0), unsent
        except InvalidInput as error:
            return self._failed(f"cannot be used: {error}", None), unsent
        except (httpx.InvalidURL, httpx.UnsupportedProtocol):
            return self._failed("has an invalid URL", None), unsent
        except RuntimeError:
            if not self._closing.is_set():
                raise
            return self._failed("was closed", 0.0), reserved
        status = response.status_code
        if status == 200:
            try:
                answer = parse_completion(bytes(content), account.model, len(body))
            except InvalidCompletion:
                return self._failed("sent no chat completion", 0.0), reserved
            used = answer.tokens_in, answer.tokens_out
            return answer, Usage(1, sum(used), self.settings.cost(*used))
        if status in _AUTH_FAILURES:
            return self._failed(f"rejected the account ({status})", None), unsent
        if status in _RETRYABLE:
            wait = _retry_after(response.headers.get("retry-after", ""))
            return self._failed(f"answered {status}", wait), unsent
        failure = self._failed(f"rejected the prompt ({status})", 0.0)
        return failure._replace(prompt_rejected=True), unsent

    def _note_connection(self, what: str, about: Mapping[str, Any]) -> None:
        """Register a connection's socket, so that `close` can interrupt it."""
        if what in _CONNECTED:
            connection = about["return_value"].get_extra_info("socket")
            with self._lock:
                self._sockets.add(connection)
                if self._closing.is_set():
                    _shut_down(connection)

    def _failed(self, reason: str, wait: float | None) -> _Failure:
        self._note(reason)
        return _Failure(reason, wait)

    def _note(self, what: str) -> None:
        with self._lock:
            self.counts[what] += 1

    def _client(self) -> httpx.Client:
        import httpx

        from recollect.streams.system.http_clients import http_client

        with self._lock:
            if self._http is None:
                seconds = self.settings.seconds
                self._http = http_client(
                    httpx.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS)),
                    limits=httpx.Limits(max_connections=self.settings.concurrency),
                )
            return self._http


def _shut_down(connection: socket.socket) -> None:
    """Shut a socket down, which wakes threads that are blocked on it."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _retry_after(value: str) -> float:
    """Return a Retry-After header, seconds or a date, in seconds; 0 if absent or invalid."""
    if value.strip().isdecimal():
        return float(value)
    try:
        return max(parsedate_to_datetime(value).timestamp() - time.time(), 0.0)
    except (ValueError, OverflowError):
        return 0.0
