"""Access tokens over HTTP: nobody gives more than they have, and a secret is shown once."""

from __future__ import annotations

import json

import httpx
import pytest

from recollect.home.access_tokens import AccessTokens
from tests.service.kit import Served

ADMIN = ("read", "admin")


def ids(client: httpx.Client) -> set[str]:
    return {each["id"] for each in client.get("/v1/tokens").json()["tokens"]}


def test_a_new_token_works_until_it_is_revoked(service: Served) -> None:
    with service.client("one", ADMIN) as admin:
        asked = {"zones": ["one"], "rights": ["read"], "user": "Ada"}
        made = admin.post("/v1/tokens", json=asked)
        assert made.status_code == 201
        held = service.bare(Authorization=f"Bearer {made.json()['token']}")
        with held as client:
            assert client.get("/v1/access").json()["user"] == "Ada"
            listed = admin.get("/v1/tokens")
            assert made.json()["token"] not in listed.text
            assert made.json()["id"] in ids(admin)
            gone = admin.delete(f"/v1/tokens/{made.json()['id']}")
            assert (gone.status_code, gone.json()["user"]) == (200, "Ada")
            assert client.get("/v1/access").status_code == 401
        assert made.json()["id"] not in ids(admin)


@pytest.mark.parametrize(
    ("zones", "rights", "status"),
    [
        (["mine"], ["read"], 201),
        (["mine", "yours"], ["read"], 404),
        (["*"], ["read"], 404),
        (["yours"], ["read"], 404),
        (["mine"], ["read", "forget"], 422),
        (["mine"], [], 422),
        ([], ["read"], 422),
        (["mine"], ["root"], 422),
    ],
)
def test_nobody_gives_zones_or_rights_that_they_do_not_have(
    service: Served, zones: list[str], rights: list[str], status: int
) -> None:
    with service.client("mine", ADMIN) as admin:
        made = admin.post("/v1/tokens", json={"zones": zones, "rights": rights})
    assert made.status_code == status
    if status == 422:
        assert "rct_" not in made.text


def test_tokens_of_other_zones_are_neither_seen_nor_revoked(service: Served) -> None:
    with (
        service.client("left", ADMIN) as left,
        service.client(("left", "right"), ADMIN) as both,
        service.client("*", ADMIN) as everywhere,
    ):
        mine, theirs, all_ = (
            each.get("/v1/access").json()["token"] for each in (left, both, everywhere)
        )
        assert ids(left) >= {mine}
        assert not ids(left) & {theirs, all_}
        assert ids(both) >= {mine, theirs}
        assert ids(everywhere) >= {mine, theirs, all_}
        assert left.delete(f"/v1/tokens/{theirs}").status_code == 404
        assert left.delete("/v1/tokens/nothing").status_code == 404
        assert both.get("/v1/access").status_code == 200


@pytest.mark.parametrize("rights", [("read",), ("read", "write", "forget")])
def test_without_admin_there_are_no_tokens(service: Served, rights: tuple[str, ...]) -> None:
    with service.client("plain", rights) as client:
        own = client.get("/v1/access").json()["token"]
        assert client.get("/v1/tokens").status_code == 404
        asked = {"zones": ["plain"], "rights": ["read"]}
        assert client.post("/v1/tokens", json=asked).status_code == 404
        assert client.delete(f"/v1/tokens/{own}").status_code == 404
    with service.bare() as client:
        assert client.get("/v1/tokens").status_code == 401


def test_no_secret_is_logged(service: Served) -> None:
    with service.client("logged", ADMIN) as admin:
        made = admin.post("/v1/tokens", json={"zones": ["logged"], "rights": ["read"]}).json()
    assert made["token"].rsplit("_", 1)[1] not in json.dumps(service.log.getvalue())


@pytest.mark.parametrize(
    ("held", "asked", "status"),
    [
        ({"user": "ada"}, {}, 422),
        ({"user": "ada"}, {"user": "bob"}, 422),
        ({"agent": "bot"}, {"user": "ada", "agent": "bot"}, 422),
        ({"user": "ada", "agent": "bot"}, {"user": "ada", "agent": "bot"}, 201),
        ({"user": "ada"}, {"user": "ada"}, 201),
    ],
)
def test_a_users_token_creates_tokens_of_that_user_alone(
    service: Served, held: dict[str, str], asked: dict[str, str], status: int
) -> None:
    own = AccessTokens(service.home).create(
        ("mine",), ADMIN, user=held.get("user"), agent=held.get("agent")
    )
    with service.bare() as client:
        made = client.post(
            "/v1/tokens",
            json={"zones": ["mine"], "rights": ["read"], **asked},
            headers={"Authorization": f"Bearer {own.token}"},
        )
    assert made.status_code == status
