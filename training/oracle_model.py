"""Evaluate the model writer with the dev labels as its model: python -m training.oracle_model.

The model answers each message with its labelled facts, slot values, days and retractions, as tool
calls. So the figures are the best that any model can reach within the writer's checks; none may be
lower than without a model. It never reads the test split. `--show` prints the refused calls.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recollect.home.home_directory import Home
from recollect.home.ledgers import gateway_of
from recollect.operations.writing.extracting import Extractor
from recollect.operations.writing.model_extracting import ModelExtractor
from recollect.schemas.inbound import draft_of
from recollect.schemas.times import parse_query_time
from recollect.streams.encoder.catalog import MINILM
from recollect.streams.models.budget_tracker import BudgetTracker
from recollect.streams.models.chat import ChatCompletion, ChatRequest, ToolCall
from recollect.streams.models.model_client import ModelClient
from recollect.streams.models.model_settings import Account, ModelSettings
from recollect.streams.writing.writer_prompt import writer_prompt_of
from training.evaluate import FIGURES, Tally, events
from training.labelled_corpus import LabelledFact, LabelledMessage, messages, sources, threads

#: A label's type -> the attribute that the product has for it; other types fill none.
ATTRIBUTES = {
    "home": "home",
    "employer": "employer",
    "job": "role",
    "partner": "partner",
    "age": "age",
    "like": "likes",
    "health": "health",
    "allergy": "health",
    "diet": "diet",
    "child": "family",
    "parent": "family",
    "sibling": "family",
    "pet": "pet",
    "possession": "possession",
    "school": "studies",
    "skill": "skill",
    "language": "language",
    "habit": "activity",
}


class OracleClient(ModelClient):
    """A client whose model knows the labels of some messages, and opens no connection.

    A call that is refused is repeated once, without its slot value, days and retraction.
    """

    def __init__(self, labelled: Mapping[tuple[str, int], LabelledMessage]) -> None:
        """`labelled`: the messages by their texts and times, as `_key` gives them."""
        settings = ModelSettings()
        account = Account("http://localhost", "oracle", None)
        super().__init__([account], settings, BudgetTracker(None, settings))
        self._labelled = labelled
        #: The errors that the tools returned, with the refused calls.
        self.refused: list[tuple[str, dict[str, Any]]] = []

    def ask(self, request: ChatRequest) -> ChatCompletion:
        """Return the tool calls for the message of a request."""
        shown = request.messages[1]["content"]
        data = json.loads(shown.partition("\n")[2].rpartition("\n")[0])
        reply = data["message"]
        message = self._labelled.get(_key(reply["content"], reply["said_at"]))
        results = [message for message in request.messages if message["role"] == "tool"]
        calls: list[dict[str, Any]] = []
        if message is not None and not results:
            calls = [self._call(message, fact) for fact in message.facts]
        elif message is not None and len(results) == len(message.facts):
            for fact, result in zip(message.facts, results, strict=True):
                error = json.loads(result["content"]).get("error")
                if error is not None:
                    call = self._call(message, fact)
                    self.refused.append((error, call))
                    calls.append({name: call[name] for name in ("text", "metadata")})
        made = tuple(
            ToolCall(f"call-{place}", "insert_fact", json.dumps(call))
            for place, call in enumerate(calls)
        )
        return ChatCompletion("", made, "stop", self.model, 0, 0)

    def _call(self, message: LabelledMessage, fact: LabelledFact) -> dict[str, Any]:
        quote = message.text[slice(*fact.quote)]
        call: dict[str, Any] = {"text": fact.text, "metadata": {"evidence": quote}}
        attribute = ATTRIBUTES.get(fact.type)
        if attribute is not None and fact.value is not None and fact.sign != "?":
            call["subject"] = fact.subject or message.sender
            call["attribute"] = attribute
            call["value"] = message.text[slice(*fact.value)]
            call["polarity"] = "positive" if fact.sign == "+" else "ended"
        if fact.first is not None:
            call["days"] = {"first": fact.first, "last": fact.last}
        ended = next(
            (message for message in self._labelled.values() if message.id == fact.ends), None
        )
        if ended is not None:
            call["retracts"] = ended.text[slice(*ended.facts[0].quote)] if ended.facts else None
        return call


def _key(text: str, at: str) -> tuple[str, int]:
    return text, parse_query_time(at) // 60_000


def main() -> None:
    """Print the figures of the dev split without and with the oracle."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--show", action="store_true", help="print the refused calls")
    given = parser.parse_args()
    tallies = {"rules": Tally(), "oracle": Tally()}
    refused: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        home = Home.create_or_open(Path(folder) / "home", encoder=MINILM.name)
        for source in sources("dev"):
            labelled = messages(source.name)
            client = OracleClient({_key(message.text, message.at): message for message in labelled})
            for writer, tally in tallies.items():
                model = None
                if writer == "oracle":
                    model = ModelExtractor(client, writer_prompt_of({}))
                with Extractor("default", gateway_of(home), model) as extractor:
                    for thread in threads(labelled):
                        for message, event in zip(thread, events(thread), strict=True):
                            got = extractor.extract(draft_of(event))
                            if message.sender != "assistant":
                                tally.count(message, got, lambda _: None)
            for error, call in client.refused:
                refused[error.partition(":")[0]] += 1
                if given.show:
                    print(error, json.dumps(call, ensure_ascii=False))
    print(f"{'':26s}" + "".join(f"{name:>8s}" for name in FIGURES))
    for writer, tally in tallies.items():
        figures = tally.figures()
        print(f"{writer:26s}" + "".join(f"{figures[name].value:8.3f}" for name in FIGURES))
    for error, count in refused.most_common(20):
        print(f"{count:6d}  {error}")


if __name__ == "__main__":
    main()
