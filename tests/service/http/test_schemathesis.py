"""Generated requests, right and wrong ones, over the whole description: no server error."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error

from tests.library.kit import said
from tests.service.kit import Served, served


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service with a little in it, that waits shortly."""
    home = tmp_path_factory.mktemp("generated") / "home"
    with served(home, wait_seconds=0.2, requests_per_second=0) as found:
        with found.client("a") as client:
            client.post("/v1/zones/a/events?wait=true", json=said("m1", "I live in Turin."))
        yield found


@pytest.mark.slow
def test_no_request_makes_the_service_fail(running: Served) -> None:
    with running.client("*") as client:
        authorization = client.headers["authorization"]
    described = schemathesis.openapi.from_url(f"{running.url}/openapi.json")
    tried = 0
    for found in described.get_all_operations():
        operation = found.ok()  # type: ignore[union-attr]
        if operation.path.endswith("/status/stream"):
            continue  # It has no end.
        tried += 1

        @settings(
            max_examples=8,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def generated(case: schemathesis.Case) -> None:
            if "zone" in (case.path_parameters or {}):
                case.path_parameters["zone"] = "a"
            answer = case.call(headers={"Authorization": authorization}, timeout=60)
            case.validate_response(answer, checks=[not_a_server_error])

        generated()
    assert tried > 40
