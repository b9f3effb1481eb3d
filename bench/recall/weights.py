"""The value of each arm of recall, and cross-validation of its weights over conversations.

Every question is answered from the files of a home that contains the conversations, with one
profile after the other; each question is encoded only once.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from types import ModuleType
from typing import Any

import msgspec

from bench.kit.report import Report
from recollect.home.home_directory import Home
from recollect.home.ledgers import open_node
from recollect.projections.files import ZoneFiles
from recollect.projections.recall import DEFAULT_PROFILE, Profile, Recaller, RecallQuery
from recollect.projections.recall.ranking.profiles import RRF_PROFILE, WEIGHTS
from recollect.streams.encoder.encoder import Encoder

#: Arm -> the factors by which the grid search multiplies its weight.
GRID = {"keyword": (0.5, 1.0, 2.0), "entity": (0.5, 1.0), "late": (0.5, 1.0, 2.0)}

Json = dict[str, Any]
Ranked = dict[str, list[str]]


class OnceEncoder:
    """The encoder of a home, which encodes each text once."""

    def __init__(self, encoder: Encoder) -> None:
        self.model = encoder.model
        self.encode_query_tokens = cache(encoder.encode_query_tokens)


class Zones:
    """The conversations of a home, and the questions about each: text by question id."""

    def __init__(
        self,
        files: Mapping[str, ZoneFiles],
        asked: Mapping[str, Mapping[str, str]],
        encoder: OnceEncoder,
    ) -> None:
        self._files = files
        self._asked = asked
        self._encoder = encoder

    def ranked(self, profile: Profile, results: int) -> Ranked:
        """Return the turns that answers cite, best first, by question id."""
        found: Ranked = {}
        for zone, questions in self._asked.items():
            recaller = Recaller(self._files[zone], profile, encoder=self._encoder)
            for id_, text in questions.items():
                answer = recaller.recall(RecallQuery(text=text, max_results=results))
                cited = (event for result in answer.results for event in result.source_event_ids)
                found[id_] = list(dict.fromkeys(cited))
        return found


@contextmanager
def open_zones(home: Home, samples: Sequence[Json]) -> Iterator[Zones]:
    """Open the zones of a home with an encoder."""
    node = open_node(home)
    with ExitStack() as held:
        held.callback(node.close)
        encoder = node.gateway.encoder()
        held.callback(encoder.close)
        files: dict[str, ZoneFiles] = {}
        asked: dict[str, dict[str, str]] = {}
        for sample in samples:
            zone = sample["sample_id"]
            files[zone] = held.enter_context(node.open_to_read(zone, node.current(zone)))
            asked[zone] = {
                f"{zone}:{index}": item["question"] for index, item in enumerate(sample["qa"])
            }
        yield Zones(files, asked, OnceEncoder(encoder))


def ablation(zones: Zones, scorer: ModuleType, questions: Sequence[Any], results: int) -> Report:
    """Measure without each part of the profile in turn, then without all that `rrf` lacks."""
    profiles = {"nothing": DEFAULT_PROFILE}
    for arm in sorted(WEIGHTS.keys() - {"causal"}):
        profiles[arm] = reweighted({arm: 0.0})
    profiles["the penalty for questions"] = msgspec.structs.replace(
        DEFAULT_PROFILE, question_share=0.0
    )
    profiles["the kind of answer"] = msgspec.structs.replace(
        DEFAULT_PROFILE, match_answer_type=False
    )
    profiles["all of these: the profile rrf"] = RRF_PROFILE
    rows = []
    for name, profile in profiles.items():
        scored = scorer.evaluate(zones.ranked(profile, results), questions)
        figures = [scored["overall"][figure] for figure in ("recall@5", "recall@10", "recall@25")]
        figures += [
            scored[group]["recall@10"]
            for group in ("multi-hop", "temporal", "open-domain", "single-hop", "adversarial")
        ]
        rows.append([name, *(f"{100 * figure:.1f}" for figure in figures)])
    return Report(
        "LoCoMo: what each part is worth",
        "The same questions with one part disabled.",
        [
            *("without", "recall@5", "recall@10", "recall@25"),
            *("multi-hop", "temporal", "open-domain", "single-hop", "adversarial"),
        ],
        rows,
    )


def leave_one_out(
    zones: Zones, scorer: ModuleType, questions: Sequence[Any], results: int
) -> Report:
    """Choose weights on all conversations but one, and score them on that one."""
    names = sorted({question.sample_id for question in questions})
    of_zone = {name: [item for item in questions if item.sample_id == name] for name in names}
    factors = [dict(zip(GRID, some, strict=True)) for some in itertools.product(*GRID.values())]
    recalls: list[dict[str, tuple[float, int]]] = []
    for factor in factors:
        profile = reweighted({arm: WEIGHTS[arm] * share for arm, share in factor.items()})
        ranked = zones.ranked(profile, results)
        scored = {name: scorer.evaluate(ranked, of_zone[name])["overall"] for name in names}
        recalls.append({name: (row["recall@10"], row["n"]) for name, row in scored.items()})
    shipped = recalls[factors.index(dict.fromkeys(GRID, 1.0))]
    rows = []
    held_out: dict[str, tuple[float, int]] = {}
    for name in names:
        others = [{key: row[key] for key in names if key != name} for row in recalls]
        chosen = max(range(len(factors)), key=lambda index: _mean(others[index]))
        held_out[name] = recalls[chosen][name]
        weights = ", ".join(f"{arm} {WEIGHTS[arm] * factors[chosen][arm]:g}" for arm in GRID)
        rows.append(
            [name, weights, *(_percent(weights[name][0]) for weights in (held_out, shipped))]
        )
    rows.append(["all", "", _percent(_mean(held_out)), _percent(_mean(shipped))])
    every = [_mean(row) for row in recalls]
    return Report(
        "LoCoMo: weights chosen elsewhere",
        f"For each conversation, the one of {len(factors)} weightings that is best on the others, "
        f"scored on this one. Over all questions, the weightings give {_percent(min(every))} to "
        f"{_percent(max(every))}.",
        ["left out", "chosen on the others", "recall@10", "recall@10 of the default"],
        rows,
    )


def reweighted(weights: Mapping[str, float]) -> Profile:
    """Return the default profile with other weights for some arms."""
    return msgspec.structs.replace(DEFAULT_PROFILE, weights={**WEIGHTS, **weights})


def _mean(rows: Mapping[str, tuple[float, int]]) -> float:
    """Return the mean over questions."""
    return sum(recall * n for recall, n in rows.values()) / sum(n for _, n in rows.values())


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"
