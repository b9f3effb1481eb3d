"""One service for the tests of a module."""

from __future__ import annotations

from tests.service.conftest import service

__all__ = ["service"]
