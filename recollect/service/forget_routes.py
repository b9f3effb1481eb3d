"""Routes that erase."""

from __future__ import annotations

import msgspec
from litestar import delete, post
from litestar.params import FromPath, FromQuery, JSONBody

from recollect.schemas.wire import ForgetReport, ForgetTargets, Time
from recollect.service.query_service import AnyRequest
from recollect.service.route_kit import service_of, write


class ForgetBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is to be forgotten; what is given together must apply together.

    `dry_run`: say what would go, and change nothing.
    """

    ids: tuple[str, ...] = ()
    platform: str | None = None
    entity: str | None = None
    sender: str | None = None
    thread: str | None = None
    before: Time | None = None
    after: Time | None = None
    dry_run: bool = False

    def targets(self) -> ForgetTargets:
        """Return what is to go."""
        said = msgspec.structs.asdict(self)
        del said["dry_run"]
        return ForgetTargets(**said)


@post(
    "/forget",
    status_code=200,
    opt={"right": "forget"},
    summary="Forget",
    tags=["forgetting"],
)
async def forget(
    request: AnyRequest, zone: FromPath[str], data: JSONBody[ForgetBody]
) -> ForgetReport:
    """Erase what is named, and all that was decided from it, everywhere."""
    report = await write(
        request,
        zone,
        lambda held: held.erase(held.choose(data.targets()), dry_run=data.dry_run),
    )
    if not data.dry_run:
        erased_in(request, zone)
    return report


@delete(
    "/memories/{id:str}",
    status_code=200,
    opt={"right": "forget"},
    summary="Forget one memory",
    tags=["forgetting"],
)
async def forget_memory(
    request: AnyRequest, zone: FromPath[str], id: FromPath[str], dry_run: FromQuery[bool] = False
) -> ForgetReport:
    """Erase what a memory comes from, and all that was decided from that, everywhere."""
    report = await write(request, zone, lambda held: held.forget(id, dry_run=dry_run))
    if not dry_run:
        erased_in(request, zone)
    return report


def erased_in(request: AnyRequest, zone: str) -> None:
    """Let go of answers that may hold what was erased in a zone."""
    service_of(request).calls.forget(zone)


ROUTES = (forget, forget_memory)
