"""Read a BERT checkpoint: its shape, its tensors and its sentence-transformers settings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from recollect.streams.encoder.cache import CONFIG
from recollect.streams.encoder.catalog import Pooling, PoolingSettings
from recollect.streams.encoder.encoder_errors import EncoderUnsupported

MODULES = "modules.json"
POOLING = "1_Pooling/config.json"
SENTENCE = "sentence_bert_config.json"
PROMPTS = "config_sentence_transformers.json"
SETTINGS_FILES = (MODULES, POOLING, SENTENCE, PROMPTS)

_T = TypeVar("_T")


class Shape(msgspec.Struct, frozen=True):
    """The fields of config.json that the graph depends on."""

    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    max_position_embeddings: int
    layer_norm_eps: float
    model_type: Literal["bert"]
    hidden_act: Literal["gelu"]
    position_embedding_type: Literal["absolute"] = "absolute"


class _Module(msgspec.Struct):
    type: str


class _Pooling(msgspec.Struct):
    # Older releases of sentence-transformers write a flag per mode, newer ones the mode.
    pooling_mode: str | None = None
    pooling_mode_cls_token: bool = False
    pooling_mode_mean_tokens: bool = False
    pooling_mode_max_tokens: bool = False
    pooling_mode_mean_sqrt_len_tokens: bool = False
    pooling_mode_weightedmean_tokens: bool = False
    pooling_mode_lasttoken: bool = False


class _Sentence(msgspec.Struct):
    # CLS, SEP and at least one piece between them.
    max_seq_length: Annotated[int, msgspec.Meta(ge=3)] | None = None


class _Prompts(msgspec.Struct):
    prompts: dict[str, str] = {}


def read_shape(directory: Path) -> Shape:
    """Return the model's shape; raise EncoderUnsupported if it is not a BERT with exact GELU."""
    try:
        shape = msgspec.json.decode((directory / CONFIG).read_bytes(), type=Shape)
    except msgspec.MsgspecError as error:
        raise EncoderUnsupported(
            f"{CONFIG} does not describe a model this loader can build ({error}); "
            "it must be a BERT with absolute positions and exact GELU"
        ) from error
    if shape.hidden_size % shape.num_attention_heads:
        raise EncoderUnsupported(
            f"{CONFIG}: hidden_size {shape.hidden_size} is not a multiple of "
            f"num_attention_heads {shape.num_attention_heads}"
        )
    return shape


def read_settings(directory: Path) -> PoolingSettings:
    """Return pooling, length and query prefix from the files of sentence-transformers.

    The defaults are mean pooling, the model's own length, and no prefix. Raise EncoderUnsupported
    for a pipeline with steps other than transform, pool and normalise.
    """
    try:
        modules = _read(directory / MODULES, list[_Module]) or []
        pooling = _read(directory / POOLING, _Pooling)
        sentence = _read(directory / SENTENCE, _Sentence)
        prompts = _read(directory / PROMPTS, _Prompts)
    except msgspec.MsgspecError as error:
        raise EncoderUnsupported(f"the settings in {directory} cannot be read: {error}") from error
    for module in modules:
        if module.type.rsplit(".", 1)[-1] not in ("Transformer", "Pooling", "Normalize"):
            raise EncoderUnsupported(f"{MODULES} asks for {module.type}, which is not supported")
    max_positions = read_shape(directory).max_position_embeddings
    configured = sentence.max_seq_length if sentence else None
    return PoolingSettings(
        pooling=_pooling(pooling) if pooling else "mean",
        max_length=min(configured or max_positions, max_positions),
        query_prefix=prompts.prompts.get("query", "") if prompts else "",
    )


def read_tensors(path: Path) -> dict[str, npt.NDArray[np.float32]]:
    """Return the tensors of a safetensors file as float32; a name loses its prefix "bert."."""
    # Imported here: only a conversion needs it, and loading must be fast.
    from safetensors import SafetensorError, safe_open

    tensors: dict[str, npt.NDArray[np.float32]] = {}
    try:
        with safe_open(path, framework="numpy") as file:
            for name in file.keys():  # noqa: SIM118 - the handle is not iterable
                kind = file.get_slice(name).get_dtype()
                if kind in ("F32", "F16"):
                    tensors[name.removeprefix("bert.")] = file.get_tensor(name).astype(np.float32)
                elif not kind.startswith("I"):
                    raise EncoderUnsupported(
                        f"{path.name}: tensor {name} is {kind}; it must be float32 or float16"
                    )
    except SafetensorError as error:
        raise EncoderUnsupported(f"{path} is not a safetensors file: {error}") from error
    return tensors


def tensor(
    tensors: Mapping[str, npt.NDArray[np.float32]], name: str, *shape: int
) -> npt.NDArray[np.float32]:
    """Return a tensor after checking its shape; -1 stands for any length."""
    values = tensors.get(name)
    if values is None:
        raise EncoderUnsupported(f"the checkpoint has no tensor {name}: it is not a BERT")
    fits = len(values.shape) == len(shape) and all(
        expected in (-1, actual) for expected, actual in zip(shape, values.shape, strict=True)
    )
    if not fits or not math.prod(values.shape):
        raise EncoderUnsupported(f"tensor {name} has shape {values.shape}, expected {shape}")
    return values


def _pooling(config: _Pooling) -> Pooling:
    flags = {
        "cls": config.pooling_mode_cls_token,
        "mean": config.pooling_mode_mean_tokens,
        "max": config.pooling_mode_max_tokens,
        "mean_sqrt_len": config.pooling_mode_mean_sqrt_len_tokens,
        "weightedmean": config.pooling_mode_weightedmean_tokens,
        "lasttoken": config.pooling_mode_lasttoken,
    }
    modes = [config.pooling_mode] if config.pooling_mode else [m for m, on in flags.items() if on]
    match modes:
        case ["cls"]:
            return "cls"
        case ["mean"]:
            return "mean"
        case _:
            raise EncoderUnsupported(
                f"{POOLING} asks for pooling {modes}; only cls and mean are supported"
            )


def _read(path: Path, kind: type[_T]) -> _T | None:
    return msgspec.json.decode(path.read_bytes(), type=kind) if path.is_file() else None
