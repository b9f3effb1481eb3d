"""HTTP client for chat models, with account rotation, retries, limits and budgets."""

from __future__ import annotations

import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakSet

import msgspec

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
from recollect.streams.models.service_errors import read_service_error

if TYPE_CHECKING:
    import httpx

_MAX_RESPONSE_BYTES = 4_000_000
_CONNECT_SECONDS = 10.0
_INITIAL_BACKOFF_SECONDS = 0.5
#: The longest wait between attempts. An account that asks for a longer wait is skipped meanwhile.
_MAX_BACKOFF_SECONDS = 60.0
_MAX_RETRY_AFTER_SECONDS = 7 * 86_400.0
#: httpcore's trace events that report a new connection.
_CONNECTED = frozenset({"connection.connect_tcp.complete", "connection.start_tls.complete"})
#: HTTP statuses of rate limits and server errors.
_RETRYABLE = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
#: HTTP statuses that mean that the account is rejected.
_AUTH_FAILURES = frozenset({401, 402, 403})


class ModelUnavailable(Unavailable):
    """No model answered; the message says why. A later request may succeed."""


class PromptRejected(ModelUnavailable):
    """A service rejects this prompt, for example as too long, or gives no complete answer to it.

    A retry would fail too. `summary`: the message without the service's own words, which may quote
    the prompt.
    """

    def __init__(self, message: str, summary: str | None = None) -> None:
        super().__init__(message)
        self.summary = message if summary is None else summary


class _Failure(NamedTuple):
    """A failed attempt. `wait`: cooldown in seconds, or None to disable the account.

    `message`: the service's own message. `prompt_rejected`: the service rejects the prompt, not the
    account. `parameter`: a parameter that the service rejects; the request may be repeated without
    it. `charged`: the service may have generated an answer.
    """

    reason: str
    wait: float | None
    message: str = ""
    prompt_rejected: bool = False
    parameter: str | None = None
    charged: bool = False

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}" if self.message else self.reason


class _Response(NamedTuple):
    status: int
    headers: Mapping[str, str]
    content: bytes


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
        #: For each account, the parameters that its service rejected.
        self._rejected_parameters: dict[int, frozenset[str]] = {}
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
            SpendingLimitExceeded: a spending limit is reached.
            PromptRejected: a service rejects the prompt.
            ModelUnavailable: no attempt succeeded.
            AlreadyClosed: the client was closed.
        """
        with self._slots, self._active_request():
            reason = "no attempt was made"
            for attempt in range(self.settings.attempts):
                index = self._pick_account()
                answer = self._attempt_adapted(index, request)
                if isinstance(answer, ChatCompletion):
                    if answer.unusable is not None:
                        self._count_outcome("gave no usable answer")
                        raise PromptRejected(
                            f"the answer of {self.accounts[index].name} {answer.unusable}"
                        )
                    self._count_outcome("answered")
                    return answer
                reason = f"{self.accounts[index].name} {answer}"
                if answer.prompt_rejected:
                    summary = f"{self.accounts[index].name} {answer.reason}"
                    raise PromptRejected(reason, summary)
                with self._lock:
                    if answer.wait is None:
                        self._disabled[index] = str(answer)
                    else:
                        backed_off = self._initial_backoff * 2**attempt * (1 + random.random() / 2)
                        cooldown = max(answer.wait, min(backed_off, _MAX_BACKOFF_SECONDS))
                        self._cooldowns[index] = time.monotonic() + cooldown
            raise ModelUnavailable(f"no model answered: {reason}; try again later")

    def adopt_cooldowns(self, other: ModelClient) -> None:
        """Take over the cooldowns of another client's accounts."""
        cooldowns = {other.accounts[index].name: at for index, at in other._cooldowns.items()}
        self._cooldowns = {
            index: cooldowns[account.name]
            for index, account in enumerate(self.accounts)
            if account.name in cooldowns
        }

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
        """Count a request as open during the block.

        If the client is closed meanwhile, the last open request closes the budget.
        """
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
        """Return the index of the next available account; wait while all cool down.

        Raises:
            ModelUnavailable: every account was rejected, or asks for a long wait.
        """
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
                    raise ModelUnavailable(
                        f"no account can be used: {reasons}; check the accounts and keys in [model]"
                    )
                in_turn = sorted(
                    enabled, key=lambda index: (index - self._next_account) % len(self.accounts)
                )
                ready = [index for index in in_turn if self._cooldowns.get(index, 0.0) <= now]
                if ready:
                    self._next_account = ready[0] + 1
                    return ready[0]
                earliest = min(self._cooldowns[index] for index in enabled)
            if earliest - now > _MAX_BACKOFF_SECONDS:
                until = time.strftime("%H:%M:%S", time.gmtime(time.time() + earliest - now))
                raise ModelUnavailable(
                    f"no model will answer before {until} UTC, since every account asked to wait "
                    "(Retry-After); try again then"
                )
            self._closing.wait(max(earliest - now, 0.0))

    def _attempt_adapted(self, index: int, request: ChatRequest) -> ChatCompletion | _Failure:
        """Send a request to an account; if it rejects a parameter, repeat without that one."""
        with self._lock:
            without = self._rejected_parameters.get(index, frozenset())
        while True:
            answer = self._attempt(self.accounts[index], request, without)
            if isinstance(answer, ChatCompletion):
                with self._lock:
                    self._rejected_parameters[index] = without
                return answer
            if answer.parameter is None:
                return answer
            without |= {answer.parameter}

    def _attempt(
        self, account: Account, request: ChatRequest, without: Set[str]
    ) -> ChatCompletion | _Failure:
        max_out = self.settings.answer_tokens
        body = request.body(account.model, max_out, without)
        expected_in = estimated_tokens(len(body))
        reserved = Usage(1, expected_in + max_out, self.settings.cost(expected_in, max_out))
        day = self.budget.reserve(reserved.tokens, reserved.cost)
        # An interrupted request is charged in full: the service may have answered it.
        actual = reserved
        try:
            sent = self._send(account, body)
            completion = (
                sent
                if isinstance(sent, _Failure)
                else _completion_or_failure(sent, account, request, body)
            )
            if isinstance(completion, ChatCompletion):
                used = completion.tokens_in, completion.tokens_out
                actual = Usage(1, sum(used), self.settings.cost(*used))
            elif not completion.charged:
                actual = Usage(1)
        finally:
            self.budget.settle(day, reserved, actual)
        if isinstance(completion, _Failure):
            self._count_outcome(completion.reason)
        return completion

    def _send(self, account: Account, body: bytes) -> _Response | _Failure:
        """Return the response to a request, or the failure."""
        import httpx

        deadline = time.monotonic() + self.settings.seconds
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
                        return _Failure("sent too long a response", 0.0, charged=True)
                    if time.monotonic() > deadline:
                        return _Failure("took too long", 0.0, charged=True)
        except httpx.TimeoutException:
            return _Failure("took too long", 0.0, charged=True)
        except httpx.ProxyError as error:
            return _Failure(f"cannot be reached: {error}", 0.0)
        except (httpx.TransportError, httpx.DecodingError) as error:
            if self._closing.is_set():
                return _Failure("was closed", 0.0, charged=True)
            return _Failure(f"cannot be reached ({type(error).__name__})", 0.0)
        except InvalidInput as error:
            return _Failure(f"cannot be used: {error}", None)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol):
            return _Failure("has an invalid URL", None)
        except RuntimeError:
            if not self._closing.is_set():
                raise
            return _Failure("was closed", 0.0, charged=True)
        return _Response(response.status_code, response.headers, bytes(content))

    def _note_connection(self, event: str, info: Mapping[str, Any]) -> None:
        """Register a connection's socket, so that `close` can interrupt it."""
        if event in _CONNECTED:
            connection = info["return_value"].get_extra_info("socket")
            with self._lock:
                self._sockets.add(connection)
                if self._closing.is_set():
                    _shut_down(connection)

    def _count_outcome(self, outcome: str) -> None:
        with self._lock:
            self.counts[outcome] += 1

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


def _completion_or_failure(
    response: _Response, account: Account, request: ChatRequest, body: bytes
) -> ChatCompletion | _Failure:
    """Return the completion in a response, or the failure that it reports."""
    status, headers, content = response
    if status == 200:
        with suppress(InvalidCompletion):
            return parse_completion(content, account.model, len(body), request.tools)
    error = read_service_error(content)
    message = account.redacted(error.message_about(request))
    if status == 200:
        if error.status is None:
            # A truncated completion was generated, and may be charged; an error page was not.
            charged = content.lstrip().startswith(b"{")
            return _Failure("sent no chat completion", 0.0, message, charged=charged)
        status = error.status
    if status in _AUTH_FAILURES:
        return _Failure(f"rejected the account ({status})", None, message)
    if status in _RETRYABLE:
        return _Failure(f"answered {status}", _retry_after(headers), message)
    return _Failure(
        f"rejected the prompt ({status})",
        0.0,
        message,
        prompt_rejected=True,
        parameter=error.rejected_parameter(msgspec.json.decode(body).keys()),
    )


def _shut_down(connection: socket.socket) -> None:
    """Shut a socket down, which wakes threads that are blocked on it."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _retry_after(headers: Mapping[str, str]) -> float:
    """Return how long a response asks to wait, in seconds; 0 if it names no valid time."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        with suppress(ValueError, OverflowError):
            seconds = float(value) * unit
            return min(max(seconds, 0.0), _MAX_RETRY_AFTER_SECONDS) if isfinite(seconds) else 0.0
    with suppress(ValueError, OverflowError):
        seconds = parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - time.time()
        return min(max(seconds, 0.0), _MAX_RETRY_AFTER_SECONDS)
    return 0.0
