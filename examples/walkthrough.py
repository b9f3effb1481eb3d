# A walkthrough in cells. It runs as it stands, and any editor that knows `# %%` shows it as a
# notebook. What a cell prints stands under it, after `# >`.

# %% [markdown]
# # recollect, step by step
#
# recollect keeps what happened in a ledger that is only ever added to, and makes memory from it.
# We take an export of a family's and a firm's chats and mails, some three hundred messages, and
# go from the first question to the proof that everything can be made again.

# %%
import tempfile
from pathlib import Path

from recollect import Query, Recollect

EXPORT = Path(__file__).resolve().parent.parent / "demo" / "export.jsonl"

# %% [markdown]
# ## A home
#
# A home is a directory with everything in it. Without an encoder this walkthrough needs no
# network. Leave `encoder` out, and recollect finds by meaning as well as by words.

# %%
scratch = tempfile.TemporaryDirectory()
memory = Recollect(Path(scratch.name) / "home", encoder="none")
zone = memory.zone("walkthrough")

report = zone.ingest_files(EXPORT)
print(report.read, "read,", report.new, "new,", report.rejected, "rejected")
# > 321 read, 321 new, 0 rejected

# %% [markdown]
# ## Asking
#
# A question can be a text. Every result says what it is, when it was said, how well it answers,
# and from which events it comes.

# %%
answer = zone.recall("On which day is the physio for Solange's knee?", max_results=3)
best = answer.results[0]
print(best.as_of[:10], best.source_event_ids)
# > 2026-03-09 ['wa-0042']

# %% [markdown]
# A `Query` holds everything that can be asked for. Here, what was said in one month on one
# platform.

# %%
query = Query(
    query="physio",
    time_after="2026-03-01T00:00:00Z",
    time_before="2026-04-01T00:00:00Z",
    platform="whatsapp",
    max_results=1,
)
first = zone.recall(query).results[0]
print(first.source_event_ids)
# > ['wa-0042']

# %% [markdown]
# ## Why
#
# From a result we can go down to the events. And of anything that was not answered we can ask
# what dropped it.

# %%
print(zone.why(first.id).source_event_ids == first.source_event_ids)
# > True

dropped = zone.explain("physio", first.id, platform="slack")
assert dropped is not None
print(dropped.dropped_by, "-", dropped.reason)
# > filter - it does not pass platform

# %% [markdown]
# ## Two zones
#
# A zone is the memory of one tenant. It sees nothing of another.

# %%
other = memory.zone("somebody-else")
other.remember("The spare key is under the third flower pot.")
print([result.text for result in other.recall("Where is the spare key?").results])
# > ['The spare key is under the third flower pot.']
print(len(other.recall("physio").results))
# > 0

# %% [markdown]
# ## Being sure
#
# `verify` replays the ledger and compares what comes out with the files in use, by content hash.
# A head that is kept somewhere else proves later that nothing before it was changed.

# %%
head = zone.head()
proof = zone.verify()
print(proof.ok, [model.model for model in proof.models])
# > True ['events', 'memory', 'identity', 'embeddings']

# %% [markdown]
# ## Forgetting
#
# First what would go, then the real thing. The words are gone from every file, and the ledger
# still verifies: its records are all there, but some can never be opened again.

# %%


def found(question: str) -> set[str]:
    """The events that an answer comes from."""
    results = zone.recall(question).results
    return {id for result in results for id in result.source_event_ids}


print("wa-0032" in found("Brindlewick Fenn"))
# > True
print(zone.forget("wa-0032", dry_run=True).forgotten)
# > ['wa-0032']
zone.forget("wa-0032")
print("wa-0032" in found("Brindlewick Fenn"))
# > False
print(zone.verify(expect=head).ok)
# > True

# %% [markdown]
# ## Making it again
#
# Everything but the ledger can be thrown away. Here every decision is made again, beside what is
# in use; then we go back.

# %%
before = zone.status().generation
rebuilt = zone.rebuild("derive")
print(rebuilt.level, zone.status().generation != before)
# > derive True

zone.rollback()
print(zone.status().generation == before)
# > True

# %%
memory.close()
scratch.cleanup()
