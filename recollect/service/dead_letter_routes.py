"""Routes over dead letters: records that could not be decided, and are parked."""

from __future__ import annotations

import msgspec
from litestar import get, post
from litestar.params import FromPath

from recollect.library.library_zone import Zone
from recollect.schemas.wire import DeadLetter
from recollect.service.problem_details import nothing_here
from recollect.service.query_service import AnyRequest
from recollect.service.route_kit import read, write


class DeadLetterList(msgspec.Struct, frozen=True):
    """The records of a zone that are parked."""

    dead_letters: list[DeadLetter]


class Unparked(msgspec.Struct, frozen=True):
    """What became of a parked record; `parked`: it still is."""

    number: int
    parked: bool


@get("/dead-letters", opt={"right": "admin"}, summary="List dead letters", tags=["dead letters"])
async def dead_letters(request: AnyRequest, zone: FromPath[str]) -> DeadLetterList:
    """Return the records that are parked, each with its reason."""
    return DeadLetterList(await read(request, zone, lambda held: held.dead_letters()))


@post(
    "/dead-letters/{number:int}/retry",
    status_code=200,
    opt={"right": "admin"},
    summary="Retry a dead letter",
    tags=["dead letters"],
)
async def retry(request: AnyRequest, zone: FromPath[str], number: FromPath[int]) -> Unparked:
    """Decide a parked record again."""

    def tried(held: Zone) -> Unparked:
        _must_be_parked(held, number)
        return Unparked(number, not held.retry(number))

    return await write(request, zone, tried)


@post(
    "/dead-letters/{number:int}/drop",
    status_code=200,
    opt={"right": "admin"},
    summary="Drop a dead letter",
    tags=["dead letters"],
)
async def drop(request: AnyRequest, zone: FromPath[str], number: FromPath[int]) -> Unparked:
    """Give a parked record up."""

    def dropped(held: Zone) -> Unparked:
        _must_be_parked(held, number)
        return Unparked(number, not held.drop(number))

    return await write(request, zone, dropped)


def _must_be_parked(held: Zone, number: int) -> None:
    if number not in {letter.number for letter in held.dead_letters()}:
        raise nothing_here()


ROUTES = (dead_letters, retry, drop)
