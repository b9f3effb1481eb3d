"""The door: asks models over HTTP, one account after the other, within limits and budgets."""

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
from recollect.streams.models.chat import (
    ChatAnswer,
    ChatQuestion,
    NotChat,
    estimated_tokens,
    read_answer,
)
from recollect.streams.models.model_settings import Account, ModelSettings
from recollect.streams.models.spending import Spending, Spent

if TYPE_CHECKING:
    import httpx

_MAX_RESPONSE_BYTES = 4_000_000
_CONNECT_SECONDS = 10.0
_FIRST_WAIT = 0.5
#: Nobody waits longer than this for an account that asks for patience.
_LONGEST_WAIT = 60.0
#: What httpcore says of a connection that is made.
_CONNECTED = frozenset({"connection.connect_tcp.complete", "connection.start_tls.complete"})
#: Too many questions, too early, or a fault of the service's own.
_TRY_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
#: The account itself is refused.
_SHUT_OUT = frozenset({401, 402, 403})


class DoorClosed(Unavailable):
    """No model answered; the message says why. What was asked may be asked later."""


class QuestionRefused(DoorClosed):
    """A service refuses this question, and would again, as one that is too long."""


class _Failure(NamedTuple):
    """Why an attempt failed; `wait`: seconds that its account wants rest, None: the end of it.

    `refused`: it is the question that the service does not take.
    """

    reason: str
    wait: float | None
    refused: bool = False


class ModelDoor:
    """Asks the models of several accounts. Any thread may ask; `close` ends all waiting."""

    def __init__(
        self,
        accounts: Sequence[Account],
        settings: ModelSettings,
        spending: Spending,
        *,
        first_wait: float = _FIRST_WAIT,
    ) -> None:
        """`first_wait`: seconds before the second attempt; each further one waits twice as long."""
        self.accounts = tuple(accounts)
        self.settings = settings
        self.spending = spending
        self._first_wait = first_wait
        self._places = threading.BoundedSemaphore(settings.concurrency)
        self._lock = threading.Lock()
        self._rests: dict[int, float] = {}
        self._shut: dict[int, str] = {}
        self._next = 0
        self._asking = 0
        self._closing = threading.Event()
        self._http: httpx.Client | None = None
        self._sockets: WeakSet[socket.socket] = WeakSet()
        #: How often what happened: answered, and each reason of a failure.
        self.counts: Counter[str] = Counter()

    @property
    def model(self) -> str:
        """The model of the first account, by which a writer is known."""
        return self.accounts[0].model

    def ask(self, question: ChatQuestion) -> ChatAnswer:
        """Return a model's answer.

        Raises:
            BudgetSpent: a budget does not reach for it.
            QuestionRefused: it would be refused again.
            DoorClosed: nobody answered.
            AlreadyClosed: the door was closed.
        """
        with self._places, self._at_work():
            reason = "no account is open"
            for attempt in range(self.settings.attempts):
                place = self._account()
                answer = self._attempt(self.accounts[place], question)
                if isinstance(answer, ChatAnswer):
                    self._note("answered")
                    return answer
                reason = f"{self.accounts[place].name} {answer.reason}"
                if answer.refused:
                    raise QuestionRefused(reason)
                with self._lock:
                    if answer.wait is None:
                        self._shut[place] = answer.reason
                    else:
                        backed_off = self._first_wait * 2**attempt * (1 + random.random() / 2)
                        rest = min(max(answer.wait, backed_off), _LONGEST_WAIT)
                        self._rests[place] = time.monotonic() + rest
            raise DoorClosed(f"no model answered: {reason}; what was asked can be asked later")

    def close(self) -> None:
        """Ask no more, and end what waits."""
        with self._lock:
            self._closing.set()
            idle = not self._asking
            for connection in self._sockets:
                _hang_up(connection)
        if self._http is not None:
            self._http.close()
        if idle:
            self.spending.close()

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        """Keep count of who asks; the last one out of a closed door closes the books."""
        with self._lock:
            if self._closing.is_set():
                raise AlreadyClosed("the door to the models was closed")
            self._asking += 1
        try:
            yield
        except DoorClosed:
            if self._closing.is_set():
                raise AlreadyClosed("the door to the models was closed") from None
            raise
        finally:
            with self._lock:
                self._asking -= 1
                last = self._closing.is_set() and not self._asking
            if last:
                self.spending.close()

    def _account(self) -> int:
        """Return the place of the next account in turn that does not rest; wait for the first."""
        while True:
            if self._closing.is_set():
                raise AlreadyClosed("the door to the models was closed")
            with self._lock:
                now = time.monotonic()
                open_ = [place for place in range(len(self.accounts)) if place not in self._shut]
                if not open_:
                    said = "; ".join(
                        f"{self.accounts[place].name} {why}" for place, why in self._shut.items()
                    )
                    raise DoorClosed(f"every account is refused: {said}")
                turn = sorted(open_, key=lambda place: (place - self._next) % len(self.accounts))
                ready = [place for place in turn if self._rests.get(place, 0.0) <= now]
                if ready:
                    self._next = ready[0] + 1
                    return ready[0]
                until = min(self._rests[place] for place in open_)
            self._closing.wait(max(until - now, 0.0))

    def _attempt(self, account: Account, question: ChatQuestion) -> ChatAnswer | _Failure:
        body = question.body(account.model, self.settings.answer_tokens)
        expected_in, most_out = estimated_tokens(len(body)), self.settings.answer_tokens
        reserved = Spent(1, expected_in + most_out, self.settings.cost(expected_in, most_out))
        day = self.spending.reserve(reserved.tokens, reserved.cost)
        # What happens to a question that broke off is not known: it counts as answered in full.
        taken = reserved
        try:
            found, taken = self._send(account, body, reserved)
        finally:
            self.spending.settle(day, reserved, taken)
        return found

    def _send(
        self, account: Account, body: bytes, reserved: Spent
    ) -> tuple[ChatAnswer | _Failure, Spent]:
        """Return what an account answers, and what that took."""
        import httpx

        ends = time.monotonic() + self.settings.seconds
        unasked = Spent(1)
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
                        return self._failed("answered without end", 0.0), reserved
                    if time.monotonic() > ends:
                        return self._failed("took too long", 0.0), reserved
        except httpx.TimeoutException:
            return self._failed("took too long", 0.0), reserved
        except httpx.ProxyError as error:
            return self._failed(f"cannot be reached: {error}", 0.0), unasked
        except (httpx.TransportError, httpx.DecodingError) as error:
            if self._closing.is_set():
                return self._failed("was closed", 0.0), reserved
            return self._failed(f"cannot be reached ({type(error).__name__})", 0.0), unasked
        except InvalidInput as error:
            return self._failed(f"cannot be asked: {error}", None), unasked
        except (httpx.InvalidURL, httpx.UnsupportedProtocol):
            return self._failed("has no address that can be asked", None), unasked
        except RuntimeError:
            if not self._closing.is_set():
                raise
            return self._failed("was closed", 0.0), reserved
        status = response.status_code
        if status == 200:
            try:
                answer = read_answer(bytes(content), account.model, len(body))
            except NotChat:
                return self._failed("answered what is no chat completion", 0.0), reserved
            used = answer.tokens_in, answer.tokens_out
            return answer, Spent(1, sum(used), self.settings.cost(*used))
        if status in _SHUT_OUT:
            return self._failed(f"refuses the account ({status})", None), unasked
        if status in _TRY_AGAIN:
            wait = _retry_after(response.headers.get("retry-after", ""))
            return self._failed(f"answered {status}", wait), unasked
        refused = self._failed(f"refuses the question ({status})", 0.0)
        return refused._replace(refused=True), unasked

    def _note_connection(self, what: str, about: Mapping[str, Any]) -> None:
        """Note a connection, so that `close` ends whoever waits there for an answer."""
        if what in _CONNECTED:
            connection = about["return_value"].get_extra_info("socket")
            with self._lock:
                self._sockets.add(connection)
                if self._closing.is_set():
                    _hang_up(connection)

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


def _hang_up(connection: socket.socket) -> None:
    """End what is sent and received; who waits for it in another thread is woken."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _retry_after(said: str) -> float:
    """Return the seconds that a service asks to wait, also as a date; 0 where it says nothing."""
    if said.strip().isdecimal():
        return float(said)
    try:
        return max(parsedate_to_datetime(said).timestamp() - time.time(), 0.0)
    except (ValueError, OverflowError):
        return 0.0
