"""Loading gives the pinned encoder or says what to do, and never takes another instead."""

from __future__ import annotations

import msgspec
import pytest

from recollect.streams.encoder.catalog import describe_registry
from recollect.streams.encoder.encoder_errors import EncoderMismatch, EncoderMissing
from recollect.streams.encoder.installing import install
from recollect.streams.encoder.loading import load
from recollect.streams.encoder.pin import Pin


def test_a_missing_encoder_is_named_with_the_command_that_brings_it(minilm_pins, tmp_path):
    with pytest.raises(EncoderMissing) as caught:
        load(minilm_pins["int8"], cache=tmp_path)
    message = str(caught.value)
    assert "all-MiniLM-L6-v2/int8" in message
    assert str(tmp_path) in message
    assert "recollect init" in message


def test_a_missing_model_from_elsewhere_is_asked_for_where_it_came_from(tiny_directory, tmp_path):
    pin = install(cache=tmp_path / "one", directory=tiny_directory)
    with pytest.raises(EncoderMissing, match=str(tiny_directory)):
        load(pin, cache=tmp_path / "two")
    hub = msgspec.structs.replace(pin, source="hub", place="owner/model", revision="abc")
    with pytest.raises(EncoderMissing, match=r"recollect init .*owner/model@abc"):
        load(hub, cache=tmp_path / "two")


def test_the_other_precision_does_not_stand_in(tiny_directory, tmp_path):
    pin = install(cache=tmp_path, directory=tiny_directory, precision="float")
    with pytest.raises(EncoderMissing):
        load(msgspec.structs.replace(pin, precision="int8"), cache=tmp_path)


@pytest.mark.parametrize("field", ["sha256", "tokenizer_sha256", "config_sha256"])
def test_files_with_other_checksums_do_not_stand_in(tiny_directory, tmp_path, field):
    pin = install(cache=tmp_path, directory=tiny_directory)
    with pytest.raises(EncoderMissing):
        load(msgspec.structs.replace(pin, **{field: "0" * 64}), cache=tmp_path)


def test_a_home_of_another_conversion_is_refused(tiny_directory, tmp_path):
    pin = install(cache=tmp_path, directory=tiny_directory)
    with pytest.raises(EncoderMismatch, match="format 99"):
        load(msgspec.structs.replace(pin, conversion=99), cache=tmp_path)


def test_a_pin_survives_being_written_down(minilm_pins):
    for pin in minilm_pins.values():
        assert msgspec.json.decode(msgspec.json.encode(pin), type=Pin) == pin


def test_the_registry_can_be_shown():
    rows = {row["name"]: row for row in describe_registry()}
    assert rows["bge-small-en-v1.5"]["pooling"] == "cls"
    assert rows["all-MiniLM-L6-v2"]["sources"] == "hub, wheel"
