# A walkthrough in cells. It runs unchanged, and an editor that supports `# %%` shows it as a
# notebook. The output of a cell is below it, after `# >`.

# %% [markdown]
# # recollect, step by step
#
# recollect keeps an append-only ledger of what happened, and derives the memory from it. We take an
# export of the chats and mails of a family and a company, some three hundred messages, and go from
# the first question to the proof that everything can be rebuilt.

# %%
import tempfile
from pathlib import Path

from recollect import Query, Recollect

EXPORT = Path(__file__).resolve().parent.parent / "demo" / "export.jsonl"

# %% [markdown]
# ## A home
#
# A home is a directory that contains everything. Without an encoder, this walkthrough needs no
# network. With the default encoder, recall searches by meaning as well as by words.

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
# A question can be a text. Every result has its type, its time, its score, and the events that it
# comes from.

# %%
answer = zone.recall("On which day is the physio for Solange's knee?", max_results=3)
best = answer.results[0]
print(best.as_of[:10], best.source_event_ids)
# > 2026-03-09 ['wa-0042']

# %% [markdown]
# A `Query` has all options of a question. Here we search one month on one platform.

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
# `why` leads from a result to its events. For a memory that was not returned, `explain` names the
# step that dropped it.

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
# A zone is the memory of one tenant. Zones are isolated from one another.

# %%
other = memory.zone("somebody-else")
other.remember("The spare key is under the third flower pot.")
print([result.text for result in other.recall("Where is the spare key?").results])
# > ['The spare key is under the third flower pot.']
print(len(other.recall("physio").results))
# > 0

# %% [markdown]
# ## Verifying
#
# `verify` replays the ledger and compares the result with the files in use, by content hash. A head
# that is stored elsewhere proves later that nothing before it was changed.

# %%
head = zone.head()
proof = zone.verify()
print(proof.ok, [model.model for model in proof.models])
# > True ['events', 'memory', 'identity', 'embeddings']

# %% [markdown]
# ## Forgetting
#
# First a dry run, then the erasure. The text is gone from every file, and the ledger still
# verifies: all records are there, but some can never be decrypted again.

# %%


def found(question: str) -> set[str]:
    """Return the events that an answer cites."""
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
# ## Rebuilding
#
# Everything but the ledger can be rebuilt. Here all events are decided again, in a new generation;
# then we roll back.

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
