"""What the files of docker/ say of one another and of the code; `make docker-test` runs them."""

import io
import re
import tarfile

from tests.broker import jars
from tests.docker import images

DOCKER = images.ROOT / "docker"
DOCKERFILE = (DOCKER / "Dockerfile").read_text()
COMPOSE = (DOCKER / "compose.yaml").read_text()
README = (DOCKER / "README.md").read_text()


def test_compose_starts_the_kafka_that_the_tests_run():
    assert f"apache/kafka:{jars.version()}" in COMPOSE
    assert f"apache/kafka:{jars.version()}" in README


def test_a_build_gets_all_that_the_dockerfile_copies_and_no_more():
    copied = set()
    for sources in re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE):
        copied |= {source.split("/")[0] for source in sources.split()}
    assert copied == set(images.SOURCES)


def test_every_variable_and_build_argument_is_in_the_readme():
    variables = set(re.findall(r"\$\{(\w+):-", COMPOSE))
    arguments = set(re.findall(r"^ARG (\w+)", DOCKERFILE, re.MULTILINE))
    assert len(variables) == 3
    assert variables | arguments <= set(re.findall(r"`(\w+)`", README))


def test_nothing_of_a_deployment_runs_as_root():
    for dockerfile in (DOCKERFILE, (DOCKER / "kafka" / "Dockerfile").read_text()):
        last = dockerfile.rsplit("\nFROM ", 1)[1]
        assert re.search(r"^USER (?!root)\w+$", last, re.MULTILINE)


def test_a_context_has_every_file_but_what_python_left(tmp_path):
    (tmp_path / "package" / "__pycache__").mkdir(parents=True)
    (tmp_path / "package" / "__pycache__" / "module.pyc").touch()
    (tmp_path / "package" / "module.py").write_text("text")
    context = images.archive([(tmp_path / "package", "inside"), (DOCKER / "README.md", "a/b")])
    with tarfile.open(fileobj=io.BytesIO(context)) as tar:
        assert tar.getnames() == ["inside", "inside/module.py", "a/b"]


def test_pips_environment_goes_before_its_files(monkeypatch, tmp_path):
    (tmp_path / "pip.conf").write_text("[global]\nindex-url = https://a.test\ntimeout = 7\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.setenv("PIP_INDEX_URL", "https://b.test/it's")
    settings = images.pip_settings()
    assert settings["index-url"] == "https://b.test/it's"
    assert settings["timeout"] == "7"


def test_the_service_of_compose_listens_on_loopback_and_is_checked_for_readiness():
    """`make docker-test` starts it so, and asks it over HTTP with a token and without."""
    service = COMPOSE.split("\n  service:\n")[1].split("\nvolumes:")[0]
    assert "command: [serve, --host, 0.0.0.0]" in service
    assert re.findall(r"ports: \[(.+)\]", COMPOSE) == ['"127.0.0.1:${RECOLLECT_PORT:-8420}:8420"']
    assert '"/health/ready"' in service.split("healthcheck:")[1]
    assert "--no-auth" not in COMPOSE
