"""Models of random weights that need no download: the same bytes from the same seed, always."""

from __future__ import annotations

import json
import string
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors.numpy import save_file
from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors
from tokenizers.models import WordPiece

BGE_QUERY_PREFIX = "Represent this sentence for searching relevant passages: "
# The shape of BAAI/bge-small-en-v1.5.
BGE_SMALL = {"hidden": 384, "layers": 12, "heads": 12, "wide": 1536, "words": 30522, "places": 512}
TINY = {"hidden": 32, "layers": 2, "heads": 4, "wide": 64, "words": 3000, "places": 64}


def write(directory: Path, *, seed: int, shape: dict[str, int], pooling: str = "cls") -> Path:
    """Write a model as sentence-transformers lays one out, and return its directory."""
    (directory / "1_Pooling").mkdir(parents=True)
    config = {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": shape["hidden"],
        "intermediate_size": shape["wide"],
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": shape["places"],
        "num_attention_heads": shape["heads"],
        "num_hidden_layers": shape["layers"],
        "pad_token_id": 0,
        "type_vocab_size": 2,
        "vocab_size": shape["words"],
    }
    steps = ("models.Transformer", "models.Pooling", "models.Normalize")
    modules = [
        {
            "idx": number,
            "name": str(number),
            "path": "" if number == 0 else f"{number}_{step.rsplit('.', 1)[1]}",
            "type": f"sentence_transformers.{step}",
        }
        for number, step in enumerate(steps)
    ]
    modes = {
        "word_embedding_dimension": shape["hidden"],
        "pooling_mode_cls_token": pooling == "cls",
        "pooling_mode_mean_tokens": pooling == "mean",
        "pooling_mode_max_tokens": pooling == "max",
    }
    for file, content in {
        "config.json": config,
        "modules.json": modules,
        "1_Pooling/config.json": modes,
        "sentence_bert_config.json": {"max_seq_length": shape["places"]},
        "config_sentence_transformers.json": {"prompts": {"query": BGE_QUERY_PREFIX}},
        "tokenizer_config.json": {"tokenizer_class": "BertTokenizer", "do_lower_case": True},
    }.items():
        (directory / file).write_text(json.dumps(content, indent=1))
    tokenizer(shape["words"]).save(str(directory / "tokenizer.json"))
    save_file(weights(seed, shape), directory / "model.safetensors")
    return directory


def write_cross_encoder(directory: Path, *, seed: int, shape: dict[str, int]) -> Path:
    """Write a cross-encoder as transformers lays one out: a BERT with a head of one class."""
    write(directory, seed=seed, shape=shape)
    for file in ("modules.json", "1_Pooling/config.json", "sentence_bert_config.json"):
        (directory / file).unlink()
    drawn = weights(seed, shape)
    head = weights(seed + 1, shape)
    named = {f"bert.{name}": tensor for name, tensor in drawn.items()}
    dense = "encoder.layer.0.attention.output.dense"
    named["bert.pooler.dense.weight"] = head[f"{dense}.weight"]
    named["bert.pooler.dense.bias"] = head[f"{dense}.bias"]
    named["classifier.weight"] = head[f"{dense}.weight"][:1]
    named["classifier.bias"] = head[f"{dense}.bias"][:1]
    save_file(named, directory / "model.safetensors")
    return directory


def tokenizer(words: int) -> Tokenizer:
    """Return a WordPiece tokenizer of that many pieces: letters, scripts, then letter groups."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = string.ascii_lowercase
    pairs = [one + other for one in letters for other in letters]
    pieces = [*special, *string.digits, *string.punctuation, *letters, *pairs]
    pieces += [f"##{piece}" for piece in (*string.digits, *letters, *pairs)]
    scripts = [(0x3B1, 0x3CA), (0x430, 0x460), (0x5D0, 0x5EB), (0x3041, 0x3097), (0x4E00, 0x9FFF)]
    signs = [chr(code) for first, last in scripts for code in range(first, last)]
    pieces += [piece for sign in signs for piece in (sign, f"##{sign}")]
    vocabulary = {piece: number for number, piece in enumerate(pieces[:words])}
    for number in range(len(vocabulary), words):
        vocabulary[f"[unused{number}]"] = number
    made = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(piece, vocabulary[piece]) for piece in ("[CLS]", "[SEP]")],
    )
    made.add_special_tokens(special)
    return made


def weights(seed: int, shape: dict[str, int]) -> dict[str, npt.NDArray[np.float32]]:
    """Return the tensors of a BERT, uniform around 0 (gains around 1).

    Only `random_raw` is used: numpy promises the raw stream of PCG64, not the distributions.
    """
    stream = np.random.PCG64(seed)

    def draw(*size: int, spread: float, centre: float = 0.0) -> npt.NDArray[np.float32]:
        raw = stream.random_raw(int(np.prod(size)))
        unit = (raw >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-23) - np.float32(1)
        return (np.float32(centre) + np.float32(spread) * unit).reshape(size)

    hidden, wide = shape["hidden"], shape["wide"]
    tensors: dict[str, npt.NDArray[np.float32]] = {}

    def dense(name: str, outputs: int, inputs: int) -> None:
        # Unit variance in gives about unit variance out, as in a trained model.
        tensors[f"{name}.weight"] = draw(outputs, inputs, spread=(3.0 / inputs) ** 0.5)
        tensors[f"{name}.bias"] = draw(outputs, spread=0.2)

    def norm(name: str) -> None:
        tensors[f"{name}.weight"] = draw(hidden, spread=0.3, centre=1.0)
        tensors[f"{name}.bias"] = draw(hidden, spread=0.2)

    tensors["embeddings.word_embeddings.weight"] = draw(shape["words"], hidden, spread=0.1)
    tensors["embeddings.position_embeddings.weight"] = draw(shape["places"], hidden, spread=0.03)
    tensors["embeddings.token_type_embeddings.weight"] = draw(2, hidden, spread=0.03)
    norm("embeddings.LayerNorm")
    for number in range(shape["layers"]):
        at = f"encoder.layer.{number}"
        for part in ("query", "key", "value"):
            dense(f"{at}.attention.self.{part}", hidden, hidden)
        dense(f"{at}.attention.output.dense", hidden, hidden)
        norm(f"{at}.attention.output.LayerNorm")
        dense(f"{at}.intermediate.dense", wide, hidden)
        dense(f"{at}.output.dense", hidden, wide)
        norm(f"{at}.output.LayerNorm")
    return tensors
