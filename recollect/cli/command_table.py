"""The commands, for a --help that loads none of them."""

from __future__ import annotations

from typing import NamedTuple


class CommandEntry(NamedTuple):
    """A command's module in `recollect.cli.commands`, and its line in --help."""

    module: str
    summary: str


#: Every command by name, in the order of --help. A test compares the lines with the commands' own.
COMMAND_TABLE = {
    "init": CommandEntry(
        "ingest_commands", "Create or reconfigure a home, and install its encoder."
    ),
    "ingest": CommandEntry("ingest_commands", "Ingest events from files."),
    "import": CommandEntry("ingest_commands", "Import the memories of another memory system."),
    "forget": CommandEntry(
        "ingest_commands", "Permanently erase events and everything derived from them."
    ),
    "remember": CommandEntry("ingest_commands", "Store a text verbatim."),
    "retract": CommandEntry(
        "ingest_commands", "Retract a fact, or all facts of an event, or restore them."
    ),
    "recall": CommandEntry("recall_commands", "Answer a question with memories and their sources."),
    "context": CommandEntry(
        "recall_commands", "Print the memories that are relevant to a task, if any."
    ),
    "why": CommandEntry(
        "recall_commands", "Show a memory's sources, or why a query did not return it."
    ),
    "zones": CommandEntry("derived.browse_commands", "List the zones of the home."),
    "facts": CommandEntry("derived.browse_commands", "List the facts of a zone, newest first."),
    "entities": CommandEntry(
        "derived.browse_commands", "List entities, list those related to one, or compare two."
    ),
    "merges": CommandEntry(
        "derived.browse_commands", "List merges of entities and facts; approve, reject or undo one."
    ),
    "timeline": CommandEntry(
        "derived.timeline_command", "List what happened, by day, earliest first."
    ),
    "evaluate": CommandEntry("evaluate_command", "Score recall on questions with known sources."),
    "infer": CommandEntry(
        "infer_command", "Let a language model answer a question about long files or memories."
    ),
    "graph": CommandEntry("derived.graph_command", "Show how people and things are related."),
    "observations": CommandEntry(
        "derived.observation_commands", "List observations: what several facts say about one topic."
    ),
    "dreams": CommandEntry(
        "derived.observation_commands",
        "List dreams: conjectured links between distant topics.",
    ),
    "memories": CommandEntry(
        "derived.memory_commands",
        "List stored memories: texts that were saved on request.",
    ),
    "tiers": CommandEntry(
        "derived.tier_commands", "Print how many stored memories are in each tier."
    ),
    "hierarchy": CommandEntry(
        "derived.hierarchy_commands",
        "List consolidated memories, highest level first.",
    ),
    "episodes": CommandEntry(
        "derived.episode_commands", "List episodes; show the messages of one, or its versions."
    ),
    "analyses": CommandEntry(
        "derived.analysis_commands", "List analyses of episodes, or analyse episodes."
    ),
    "models": CommandEntry(
        "derived.model_commands",
        "List, show, refresh or change mental models: saved reports on a subject.",
    ),
    "directives": CommandEntry(
        "derived.model_commands", "List, add or remove the user's standing instructions."
    ),
    "trajectories": CommandEntry(
        "derived.learning_commands", "List trajectories: recorded runs of tasks by AI agents."
    ),
    "playbooks": CommandEntry(
        "derived.learning_commands", "List playbooks: strategies learned from trajectories."
    ),
    "extract": CommandEntry("extract_command", "Show what would be extracted, without storing it."),
    "write": CommandEntry(
        "write_commands",
        "Extract more facts with a language model, from events that it has not read yet.",
    ),
    "writer": CommandEntry(
        "write_commands", "Show or set a zone's instructions for the language model."
    ),
    "backfill": CommandEntry(
        "backfill_command",
        "Extract more facts with a language model, from old messages; can be paused.",
    ),
    "status": CommandEntry("upkeep_commands", "Show what a zone contains, and its processing lag."),
    "doctor": CommandEntry(
        "upkeep_commands", "Check the installation and the home, and suggest fixes."
    ),
    "verify": CommandEntry(
        "upkeep_commands", "Replay the ledger, and compare the result with the zone's files."
    ),
    "rebuild": CommandEntry("upkeep_commands", "Rebuild derived data from the ledger."),
    "rollback": CommandEntry(
        "upkeep_commands", "Undo the last rebuild: return to the previous generation."
    ),
    "reclaim": CommandEntry(
        "upkeep_commands", "Free disk space: remove results of earlier rebuilds from the ledger."
    ),
    "deadletters": CommandEntry("upkeep_commands", "List dead letters; retry or drop one."),
    "skip": CommandEntry(
        "upkeep_commands",
        "Skip a record on Kafka that another program wrote and that blocks a zone.",
    ),
    "promote": CommandEntry("upkeep_commands", "Move the home's ledger, with all zones, to Kafka."),
    "export": CommandEntry(
        "export_command", "Export a zone, as its events or as Markdown pages to read."
    ),
    "certificates": CommandEntry(
        "certificate_command", "List the certificates of erasures, or print one as JSON."
    ),
    "records": CommandEntry(
        "record_command", "List the records of the ledger, or show one and its effects."
    ),
    "backup": CommandEntry(
        "backup_commands", "Copy the ledger and its keys while the home is in use."
    ),
    "restore": CommandEntry("backup_commands", "Replace the home with a backup."),
    "branch": CommandEntry("branch_commands", "Try something out on a copy of a zone's memory."),
    "worker": CommandEntry(
        "servers.process_commands", "Process events as they arrive in the ledger."
    ),
    "replica": CommandEntry("servers.process_commands", "Run a read replica of a ledger on Kafka."),
    "serve": CommandEntry(
        "servers.service_commands", "Serve memory over HTTP, and process events as they arrive."
    ),
    "token": CommandEntry("servers.service_commands", "Manage access tokens for the service."),
    "config": CommandEntry("config_command", "Show all settings, and where each value comes from."),
    "mcp": CommandEntry("servers.mcp_command", "Serve a zone to an AI agent over MCP."),
}
