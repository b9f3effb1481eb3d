"""Files by their migrations in this folder, which tests these."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.new_files import migrated_new_files


@pytest.fixture(autouse=True, scope="package")
def migrations() -> Iterator[None]:
    with migrated_new_files():
        yield
