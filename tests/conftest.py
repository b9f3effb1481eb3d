"""What all tests share: Hypothesis judges behaviour, never the speed of a shared machine."""

from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.broker.fixture"]

settings.register_profile("recollect", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("recollect")
