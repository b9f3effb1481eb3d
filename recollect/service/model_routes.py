"""Routes over mental models: reports that somebody keeps, each with its versions."""

from __future__ import annotations

import msgspec
from litestar import delete, get, patch, post
from litestar.params import FromPath, FromQuery, JSONBody

from recollect.library.library_zone import Zone
from recollect.schemas.wire import ForgetReport, MentalModel
from recollect.service.forget_routes import erased_in
from recollect.service.memory_routes import MemoryHistory
from recollect.service.query_service import AnyRequest
from recollect.service.route_kit import read, write


class ModelList(msgspec.Struct, frozen=True):
    """Mental models in the order in which they were written."""

    mental_models: list[MentalModel]


class ModelBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A report to keep. `rests_on`: ids of memories that it was made of; it goes when they go."""

    name: str
    description: str
    subtype: str | None = None
    entity_id: str | None = None
    tags: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = ()


class DescriptionBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a report says from now on. `rests_on`: null for that of the version before."""

    description: str
    rests_on: tuple[str, ...] | None = None


@get("/mental-models", opt={"right": "read"}, summary="List mental models", tags=["mental models"])
async def mental_models(
    request: AnyRequest, zone: FromPath[str], every_version: FromQuery[bool] = False
) -> ModelList:
    """Return the reports that are kept; `every_version`: also what they said before."""
    return ModelList(
        await read(request, zone, lambda held: held.mental_models(every_version=every_version))
    )


@post(
    "/mental-models",
    status_code=201,
    opt={"right": "write"},
    summary="Create a mental model",
    tags=["mental models"],
)
async def create_model(
    request: AnyRequest, zone: FromPath[str], data: JSONBody[ModelBody]
) -> MentalModel:
    """Keep a report."""
    return await write(
        request,
        zone,
        lambda held: held.create_mental_model(**msgspec.structs.asdict(data)),
        makes=True,
    )


@get(
    "/mental-models/{id:str}",
    opt={"right": "read"},
    summary="Get a mental model",
    tags=["mental models"],
)
async def get_model(request: AnyRequest, zone: FromPath[str], id: FromPath[str]) -> MentalModel:
    """Return a version of a report."""
    return await read(request, zone, lambda held: held.mental_model(id))


@patch(
    "/mental-models/{id:str}",
    opt={"right": "write"},
    summary="Update a mental model",
    tags=["mental models"],
)
async def update_model(
    request: AnyRequest, zone: FromPath[str], id: FromPath[str], data: JSONBody[DescriptionBody]
) -> MentalModel:
    """Write a new version of a report; those before stay."""
    return await write(
        request,
        zone,
        lambda held: held.update_mental_model(id, data.description, rests_on=data.rests_on),
    )


@delete(
    "/mental-models/{id:str}",
    status_code=200,
    opt={"right": "forget"},
    summary="Delete a mental model",
    tags=["mental models"],
)
async def delete_model(
    request: AnyRequest, zone: FromPath[str], id: FromPath[str], dry_run: FromQuery[bool] = False
) -> ForgetReport:
    """Erase a report with all its versions, everywhere."""
    report = await write(request, zone, lambda held: held.delete_mental_model(id, dry_run=dry_run))
    if not dry_run:
        erased_in(request, zone)
    return report


@get(
    "/mental-models/{id:str}/history",
    opt={"right": "read"},
    summary="Versions of a mental model",
    tags=["mental models"],
)
async def model_history(
    request: AnyRequest, zone: FromPath[str], id: FromPath[str]
) -> MemoryHistory:
    """Return what a report said in each of its versions, the first first."""

    def versions(held: Zone) -> MemoryHistory:
        held.mental_model(id)
        return MemoryHistory(held.history(id))

    return await read(request, zone, versions)


ROUTES = (mental_models, create_model, get_model, update_model, delete_model, model_history)
