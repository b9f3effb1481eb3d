"""Fitting of reading heads with NumPy: Adam, a softmax over partly known labels, and a CRF.

An unknown label may be any of those that are possible there: the loss is the negative
log-likelihood of all labellings that agree with what is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recollect.streams.reader.head_file import Head, Layer, Numbers
from recollect.streams.reader.head_scores import INNER_PARTS, PARTS
from recollect.streams.reader.name_chain import goes
from recollect.streams.reader.words.word_states import MOST
from training.heads.head_corpora import UNITS

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]
#: The score of an impossible label.
NEVER = np.float32(-1e4)


class Adam:
    """The Adam optimiser (Kingma and Ba, 2015)."""

    def __init__(self, parameters: Sequence[Floats], rate: float, decay: float) -> None:
        self.rate = rate
        self._decay = decay
        self._parameters = parameters
        self._first = [np.zeros_like(each) for each in parameters]
        self._second = [np.zeros_like(each) for each in parameters]
        self._step = 0

    def step(self, gradients: Sequence[Floats], share: float) -> None:
        """Take a step with `share` of the learning rate."""
        self._step += 1
        for value, gradient, first, second in zip(
            self._parameters, gradients, self._first, self._second, strict=True
        ):
            first += 0.1 * (gradient - first)
            second += 0.01 * (gradient * gradient - second)
            towards = first / (1 - 0.9**self._step)
            size = np.sqrt(second / (1 - 0.99**self._step)) + 1e-8
            decay = self._decay * value if value.ndim > 1 else 0
            value -= np.float32(self.rate * share) * (towards / size + decay)


class Network(NamedTuple):
    """One matrix, or two with a ReLU in between; each with a bias."""

    weights: list[Floats]

    @classmethod
    def begun(cls, sizes: Sequence[int], chance: np.random.Generator) -> Network:
        """Return a network with small random weights."""
        weights: list[Floats] = []
        for width, height in pairwise(sizes):
            spread = 0.0 if len(sizes) == 2 else np.sqrt(1 / width)
            weights.append((chance.standard_normal((width, height)) * spread).astype(np.float32))
            weights.append(np.zeros(height, np.float32))
        return cls(weights)

    def scores(self, rows: Floats) -> Floats:
        """Return the scores of rows."""
        return self._through(rows, None)[-1]

    def _through(self, rows: Floats, kept: Floats | None) -> list[Floats]:
        if len(self.weights) == 2:
            return [rows, rows @ self.weights[0] + self.weights[1]]
        inner = np.clip(rows @ self.weights[0] + self.weights[1], 0, MOST / INNER_PARTS)
        if kept is not None:
            inner = inner * kept
        return [rows, inner, inner @ self.weights[2] + self.weights[3]]

    def passed(self, rows: Floats, chance: np.random.Generator, drop: float) -> list[Floats]:
        """Return the input of each layer for some rows, with dropout."""
        rows = rows * _kept(rows.shape, chance, drop)
        inner = None
        if len(self.weights) > 2:
            inner = _kept((len(rows), self.weights[0].shape[1]), chance, drop)
        return self._through(rows, inner)

    def gradients(
        self, values: Sequence[Floats], of_scores: npt.NDArray[np.floating]
    ) -> list[Floats]:
        """Return the gradient of each weight, given the gradient of the scores."""
        if len(self.weights) == 2:
            return [values[0].T @ of_scores, of_scores.sum(axis=0)]
        inner = (of_scores @ self.weights[2].T) * (values[1] > 0)
        return [
            values[0].T @ inner,
            inner.sum(axis=0),
            values[1].T @ of_scores,
            of_scores.sum(axis=0),
        ]

    def in_whole_numbers(self, units: int) -> tuple[Layer, ...]:
        """Return the layers as stored; inputs are integers, `units` per standard deviation."""
        found = []
        for number in range(0, len(self.weights), 2):
            weights, bias = self.weights[number], self.weights[number + 1]
            scale = np.maximum(np.abs(weights).max(axis=0), 1e-9) / MOST
            parts = units if number == 0 else INNER_PARTS
            found.append(
                Layer(
                    Numbers.of(np.rint(weights / scale).astype(np.int8)),
                    Numbers.of((scale / parts).astype(np.float32)),
                    Numbers.of(bias.astype(np.float32)),
                )
            )
        return tuple(found)


def _kept(shape: tuple[int, ...], chance: np.random.Generator, drop: float) -> Floats:
    """Return a dropout mask: 0 for dropped values, and for others what keeps the mean."""
    there = chance.random(shape, dtype=np.float32) >= drop
    return there.astype(np.float32) / np.float32(1 - drop)


def batches(count: int, size: int, chance: np.random.Generator) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the numbers up to `count` in random order, in batches of `size`."""
    order = chance.permutation(count)
    for start in range(0, count, size):
        yield order[start : start + size]


def fit_labels(
    rows: Floats,
    possible: Mask,
    weights: Floats,
    *,
    inner: int = 0,
    epochs: int = 8,
    rate: float = 2e-3,
    decay: float = 1e-2,
    drop: float = 0.1,
    seed: int = 1,
) -> Network:
    """Return a network that chooses a label for each row.

    `possible`: (n, labels); if several are marked, each of them counts as right. `weights`: (n,),
    the weight of each row.
    """
    chance = np.random.default_rng(seed)
    sizes = [rows.shape[1], *([inner] if inner else []), possible.shape[1]]
    network = Network.begun(sizes, chance)
    adam = Adam(network.weights, rate, decay)
    steps = epochs * -(-len(rows) // 512)
    step = 0
    for _ in range(epochs):
        for chosen in batches(len(rows), 512, chance):
            values = network.passed(rows[chosen].astype(np.float32), chance, drop)
            all_ = softmax(values[-1])
            right = softmax(np.where(possible[chosen], values[-1], NEVER))
            of_scores = (all_ - right) * weights[chosen, None] / len(chosen)
            adam.step(network.gradients(values, of_scores), 1 - step / steps)
            step += 1
    return network


def softmax(scores: Floats) -> Floats:
    """Return the probabilities of the labels."""
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    found: Floats = raised / raised.sum(axis=-1, keepdims=True)
    return found


class Chain(NamedTuple):
    """A network that scores labels, with the scores of transitions between them.

    `steps`: (labels + 1, labels); the last row is the start.
    """

    network: Network
    steps: Floats


def fit_chain(
    rows: Floats,
    ends: Sequence[int],
    right: Mask,
    possible: Mask,
    allowed: Mask,
    *,
    inner: int,
    epochs: int,
    rate: float = 2e-3,
    decay: float = 1e-2,
    drop: float = 0.2,
    size: int = 48,
    seed: int = 1,
) -> Chain:
    """Return a conditional random field over the labels of texts.

    `right`: (n, labels), the labels that agree with what is known of a word. `possible`: those that
    may occur there at all, so that a set without a type is no evidence against that type.
    `allowed`: the transitions that exist.
    """
    chance = np.random.default_rng(seed)
    network = Network.begun([rows.shape[1], inner, right.shape[1]], chance)
    moves = np.zeros(allowed.shape, np.float32)
    closed = np.where(allowed, np.float32(0), NEVER)
    adam = Adam([*network.weights, moves], rate, decay)
    begins = [0, *ends[:-1]]
    total = epochs * -(-len(ends) // size)
    step = 0
    for _ in range(epochs):
        for chosen in batches(len(ends), size, chance):
            spans = [(begins[text], ends[text]) for text in chosen]
            places = [np.arange(begin, end) for begin, end in spans if end > begin]
            longest = max(map(len, places))
            at = np.concatenate(places)
            values = network.passed(rows[at].astype(np.float32), chance, drop)
            scores = np.zeros((len(places), longest, right.shape[1]), np.float32)
            there = np.zeros((len(places), longest), bool)
            for number, place in enumerate(places):
                there[number, : len(place)] = True
            scores[there] = values[-1]
            known, open_ = np.ones_like(scores, bool), np.ones_like(scores, bool)
            known[there], open_[there] = right[at], possible[at]
            steps = moves + closed
            of_all, moves_all = marginals(np.where(open_, scores, NEVER), steps, there)
            of_right, moves_right = marginals(np.where(known, scores, NEVER), steps, there)
            of_scores = (of_all - of_right)[there] / len(places)
            gradients = network.gradients(values, of_scores)
            of_moves = (moves_all - moves_right) / np.float32(len(places))
            adam.step([*gradients, np.where(allowed, of_moves, 0)], 1 - step / total)
            step += 1
    return Chain(network, moves)


def chain_head(
    rows: Floats,
    ends: Sequence[int],
    right: Mask,
    possible: Mask,
    layers: tuple[int, ...],
    labels: tuple[str, ...],
    added: Mapping[str, float],
) -> Head:
    """Return a head that labels spans; the first label is none.

    `rows`, `ends`, `right` and `possible` as in `fit_chain`; `added`: what is added to the scores
    of labels, so that more spans are found.
    """
    count = len(labels)
    allowed = np.array(
        [[goes(labels, before, label) for label in range(count)] for before in range(count + 1)]
    )
    chain = fit_chain(rows, ends, right, possible, allowed, inner=64, epochs=8, drop=0.3)
    for label, score in added.items():
        chain.network.weights[-1][labels.index(label)] += np.float32(score)
    steps = np.rint(chain.steps * PARTS).astype(np.float32)
    return Head(layers, chain.network.in_whole_numbers(UNITS), labels, Numbers.of(steps))


def marginals(scores: Floats, steps: Floats, there: Mask) -> tuple[Floats, Floats]:
    """Return the probability of each label at each word, and the expected count of each transition.

    `scores`: (texts, words, labels); `there`: (texts, words), False for padding.
    """
    words = scores.shape[1]
    between, first = steps[:-1], steps[-1]
    ahead = np.empty_like(scores)
    ahead[:, 0] = scores[:, 0] + first
    for word in range(1, words):
        reached = log_sum(ahead[:, word - 1, :, None] + between, 1) + scores[:, word]
        ahead[:, word] = np.where(there[:, word, None], reached, ahead[:, word - 1])
    whole = log_sum(ahead[:, -1], 1)
    back = np.zeros_like(scores)
    taken = np.zeros_like(steps)
    for word in range(words - 2, -1, -1):
        onward = scores[:, word + 1] + back[:, word + 1]
        reached = log_sum(between + onward[:, None, :], 2)
        back[:, word] = np.where(there[:, word + 1, None], reached, 0)
        pairs = np.exp(
            ahead[:, word, :, None] + between + onward[:, None, :] - whole[:, None, None]
        )
        taken[:-1] += (pairs * there[:, word + 1, None, None]).sum(axis=0)
    likely = np.exp(ahead + back - whole[:, None, None])
    taken[-1] = likely[:, 0].sum(axis=0)
    return likely * there[..., None], taken


def log_sum(values: Floats, axis: int) -> Floats:
    """Return the log-sum-exp along an axis."""
    most = values.max(axis=axis, keepdims=True)
    found: Floats = np.log(np.exp(values - most).sum(axis=axis)) + most.squeeze(axis)
    return found


def joined(networks: Sequence[Network]) -> Network:
    """Return the network whose scores are the mean of those of networks with an inner layer.

    Each may see only the first columns of what the widest sees.
    """
    width = max(len(each.weights[0]) for each in networks)
    inner = [
        np.pad(each.weights[0], ((0, width - len(each.weights[0])), (0, 0))) for each in networks
    ]
    share = np.float32(1 / len(networks))
    return Network(
        [
            np.concatenate(inner, axis=1),
            np.concatenate([each.weights[1] for each in networks]),
            np.concatenate([each.weights[2] for each in networks]) * share,
            np.sum([each.weights[3] for each in networks], axis=0) * share,
        ]
    )
