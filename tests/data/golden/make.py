"""Makes golden records: bytes that every later version must still read, and what they say.

    python -m tests.data.golden.make records-v1

writes records-v1.jsonl (the records, in hex, with their keys; a record that is split is a list)
and records-v1.json (what they say) for every sample below that no other file here holds yet. What
is written once is never written again: a later version that cannot read it is at fault, not the
file. The expected JSON comes from the literals below, not from decoding.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgspec

from recollect.schemas.changes import ROW_OF_TABLE, AnyRow, DecidedPart, Delete, encode_part
from recollect.schemas.events import AnyPayload, Draft
from recollect.schemas.ids import event_id
from recollect.schemas.ledger.fragments import split
from recollect.schemas.ledger.records import (
    CHANGE_FORMAT,
    EVENT_FORMAT,
    ChangeHeader,
    Source,
    record_hash,
    write_change,
    write_event,
)
from recollect.schemas.ledger.seal import new_key

HERE = Path(__file__).parent
ZONE, PLATFORM = "golden", "slack"
OCCURRED, INGESTED = 1_778_248_560_000, 1_778_248_561_234

#: The kinds of which a later version than the first is written.
VERSIONS = {
    "edit": 2,
    "message": 2,
    "model_wrote": 2,
    "remember": 4,
    "start_trajectory": 2,
    "update_mental_model": 2,
}

CONTENT: dict[str, Any] = {
    "source_id": "m-1",
    "sender_id": "U123",
    "content": "Ada moved to Zürich — «for good», she says 🙂",
    "sender_name": "Ada",
    "peer_id": "C42",
    "peer_kind": "channel",
    "thread_id": "1700000000.1",
    "session_id": "s-1",
    "direction": "in",
    "reply_to": "m-0",
    "attachments": [
        {
            "type": "image",
            "name": "lake.jpg",
            "url": "https://example.com/lake.jpg",
            "mime_type": "image/jpeg",
            "caption": "the lake",
            "size": 12345,
        }
    ],
    "metadata": {"edited": True, "tags": ["a", "b"], "n": 1.5, "none": None, "big": 2**63},
    "turn_id": "t-1",
    "utc_offset": 120,
}

PAYLOADS: dict[str, dict[str, Any]] = {
    "message": {"kind": "message", **CONTENT},
    "message, only what is required": {
        "kind": "message",
        "source_id": "m-2",
        "sender_id": "U123",
        "content": "hi",
    },
    "message, of a note": {"kind": "message", **CONTENT, "revised_at": OCCURRED + 60_000},
    "turn_completed": {"kind": "turn_completed", **CONTENT},
    "close_turn": {
        "kind": "close_turn",
        "source_id": "close-turn:1",
        "platform": "slack",
        "turn_id": "t-1",
    },
    "remember": {
        "kind": "remember",
        **CONTENT,
        "context": "a walk",
        "memory_type": "preference",
        "namespace": "team",
        "path_key": "people/ada",
        "importance": 0.75,
    },
    "remember, of another system": {
        "kind": "remember",
        "source_id": "memory-7",
        "sender_id": "ada",
        "content": "Ada likes tea.",
        "revised_at": OCCURRED + 60_000,
    },
    "remember, in place of another": {
        "kind": "remember",
        "source_id": "remember:2",
        "sender_id": "ada",
        "content": "The door code is 4712.",
        "replaces": "F1",
    },
    "remember, with an owner": {
        "kind": "remember",
        "source_id": "memory-1",
        "sender_id": "ada",
        "content": "Ada prefers tea.",
        "memory_type": "preference",
        "namespace": "/people/ada",
        "path_key": "drink",
        "importance": 0.75,
        "scope": "user",
        "visibility": "shared",
        "user_id": "ada",
        "agent_id": "helper",
        "valid_at": OCCURRED,
        "invalid_at": INGESTED,
        "enrichments": ["extract_entities", "resolve_temporal"],
        "abstraction_level": 1,
        "derived_from": ["EV1", "EV2"],
    },
    "edit": {"kind": "edit", **CONTENT, "target": "m-1", "said_at": OCCURRED - 60_000},
    "edit, of a note": {
        "kind": "edit",
        **CONTENT,
        "target": "m-1",
        "revised_at": OCCURRED + 60_000,
    },
    "edit, only what is required": {
        "kind": "edit",
        "source_id": "m-2:edited",
        "sender_id": "U123",
        "content": "hi!",
        "target": "m-2",
    },
    "deletion": {"kind": "deletion", **CONTENT, "content": "", "target": "m-1"},
    "reaction": {"kind": "reaction", **CONTENT, "content": "🎉", "target": "m-1"},
    "notice": {"kind": "notice", **CONTENT, "content": "Ada joined #lake", "target": "m-1"},
    "notice, of no message": {
        "kind": "notice",
        "source_id": "n-2",
        "sender_id": "U123",
        "content": "Ada joined",
    },
    "forget": {"kind": "forget", "source_id": "forget:1,2", "targets": [1, 2]},
    "certify": {
        "kind": "certify",
        "source_id": "certify:1",
        "erasure": 7,
        "statement": "eyJmb3JtYXQiOjF9",
        "sha256": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
    },
    "recalled": {
        "kind": "recalled",
        "source_id": "recalled:1",
        "accesses": [{"target_type": "fact", "target_id": "F1", "count": 3}],
    },
    "tick": {"kind": "tick", "source_id": "tick:1", "name": "daily"},
    "consolidate": {
        "kind": "consolidate",
        "source_id": "consolidate:CL1:7",
        "cluster_id": "CL1",
        "is_absorbed": True,
    },
    "run_pass": {
        "kind": "run_pass",
        "source_id": "pass:observation_merge:CL1:CL2:7",
        "name": "observation_merge",
        "subject": "CL1",
        "keeper": "CL2",
    },
    "park": {"kind": "park", "source_id": "park:1", "reason": "unknown", "body": "AP/+fw=="},
    "retry": {"kind": "retry", "source_id": "retry:7", "number": 7},
    "drop": {"kind": "drop", "source_id": "drop:7", "number": 7},
    "propose_merge": {
        "kind": "propose_merge",
        "source_id": "merge:1",
        "entity_a": "E1",
        "entity_b": "E2",
        "confidence": 0.9,
        "reason": "same handle",
    },
    "decide_merge": {
        "kind": "decide_merge",
        "source_id": "decide:1",
        "candidate_id": "C1",
        "approve": True,
    },
    "find_dreams": {
        "kind": "find_dreams",
        "source_id": "dreams:7:0000000000TM58XV8YZVBG9TN4",
        "tick": 7,
        "answers": [[7, "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="]],
        "facts": ["F1", "F2"],
        "topics": [0, 1],
        "sources": [1, 2],
        "model": "m",
        "role": "dream-1",
    },
    "run_pass, fact_merge": {
        "kind": "run_pass",
        "source_id": "pass:fact_merge:F1:F2:7",
        "name": "fact_merge",
        "subject": "F1",
        "keeper": "F2",
    },
    "undo_merge": {"kind": "undo_merge", "source_id": "undo:1", "merge_id": "M1"},
    "create_mental_model": {
        "kind": "create_mental_model",
        "source_id": "mm:1",
        "name": "Ada",
        "description": "Lives in Zürich.",
        "subtype": "person",
        "entity_id": "E1",
        "tags": ["people"],
        "refresh_trigger": {"every": "day", "facts": 3},
    },
    "update_mental_model": {
        "kind": "update_mental_model",
        "source_id": "mm:2",
        "model_id": "MM1",
        "description": "Lives in Basel.",
    },
    "refresh_models": {
        "kind": "refresh_models",
        "source_id": "refresh-models:1:9",
        "min_facts": 20,
    },
    "refresh_mental_model": {
        "kind": "refresh_mental_model",
        "source_id": "refresh:E1:9",
        "entity_id": "E1",
    },
    "update_mental_model, with tags": {
        "kind": "update_mental_model",
        "source_id": "mm:3",
        "model_id": "MM1",
        "description": "Lives in Basel, by the river.",
        "tags": ["home", "from:01J8Z"],
    },
    "retract": {
        "kind": "retract",
        "source_id": "retract:1",
        "target": "F1",
        "stated_at": [[4, 0, 17], [9, 3, 20]],
    },
    "retract, replaced": {
        "kind": "retract",
        "source_id": "retract:2",
        "target": "F1",
        "stated_at": [[4, 0, 17]],
        "replaced_by": "E2",
    },
    "retract, restored": {
        "kind": "retract",
        "source_id": "retract:3",
        "target": "F1",
        "restore": True,
    },
    "analyse": {
        "kind": "analyse",
        "source_id": "analyse:P1:1",
        "episode_id": "P1",
        "types": ["summary_v1", "tickets_v2"],
        "events": [3, 4, 9],
        "own": [{"name": "tickets", "version": "2", "patterns": {"ticket": "[A-Z]+-[0-9]+"}}],
    },
    "model_wrote": {
        "kind": "model_wrote",
        "source_id": "model_wrote:1",
        "about": 4,
        "answers": [[7, "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="]],
        "thread": [2, 3],
        "sources": [1, 2, 3, 4],
        "model": "small-model",
        "role": "own-1",
    },
    "model_wrote, with rules": {
        "kind": "model_wrote",
        "source_id": "model_wrote:2",
        "about": 4,
        "answers": [[8, "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="]],
        "thread": [2, 3],
        "sources": [1, 2, 3, 4],
        "model": "small-model",
        "role": "own-1",
        "rules": 2,
    },
    "model_consolidated": {
        "kind": "model_consolidated",
        "source_id": "model_consolidated:1",
        "cluster_id": "0000000000F2Q9JXE0MTPV7D6B",
        "facts": ["01KR3XZBC0V7D6B8F2Q9JXE0MT", "01KR3XZBC0V7D6B8F2Q9JXE0MV"],
        "seen": 9,
        "answers": [[9, "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="]],
        "sources": [4, 7],
        "model": "small-model",
        "role": "consolidate-1",
    },
    "writer_text": {
        "kind": "writer_text",
        "source_id": "writer_text:1",
        "name": "names",
        "text": "Mel is Melanie.",
    },
    "decide_writer_text": {
        "kind": "decide_writer_text",
        "source_id": "decide_writer_text:1",
        "proposal_id": "W1",
        "approve": True,
        "sources": [2, 4, 8],
        "by_setting": True,
    },
    "decide_writer_text, rejected": {
        "kind": "decide_writer_text",
        "source_id": "decide_writer_text:2",
        "proposal_id": "W1",
        "approve": False,
    },
    "set_memory_state": {
        "kind": "set_memory_state",
        "source_id": "state:1",
        "memory_ids": ["F1", "F2"],
        "state": "inactive",
    },
    "archive_memories": {
        "kind": "archive_memories",
        "source_id": "archive:1",
        "memory_ids": ["EV3", "EV4"],
        "cause": "age",
        "restore": True,
    },
    "consolidate_memories": {
        "kind": "consolidate_memories",
        "source_id": "consolidate:1",
        "memory_ids": ["EV3", "EV5"],
        "method": "criteria",
        "answers": [[7, "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="]],
        "sources": [3, 5],
        "model": "gpt",
        "role": "consolidate-1",
    },
    "start_trajectory": {
        "kind": "start_trajectory",
        "source_id": "trajectory:1",
        "task": "Release version 2.1",
        "task_type": "release",
        "agent_id": "builder",
        "playbook_id": "PB1",
        "metadata": {"ticket": 7},
    },
    "start_trajectory, with an owner": {
        "kind": "start_trajectory",
        "source_id": "trajectory:2",
        "task": "Release version 2.2",
        "task_type": "release",
        "agent_id": "builder",
        "user_id": "ada",
        "scope": "agent",
        "visibility": "private",
    },
    "log_step": {
        "kind": "log_step",
        "source_id": "step:1",
        "trajectory_id": "T1",
        "step": "tool_call",
        "content": "Run all tests.",
        "tool": "pytest",
    },
    "complete_trajectory": {
        "kind": "complete_trajectory",
        "source_id": "completion:1",
        "trajectory_id": "T1",
        "status": "partial",
        "success_score": 0.5,
        "error_message": "the login broke",
        "metrics": {"seconds": 41.5},
    },
    "give_feedback": {
        "kind": "give_feedback",
        "source_id": "feedback:1",
        "trajectory_id": "T1",
        "score": 0.25,
        "source": "ab_test",
        "comment": "fewer sales",
    },
    "reflect": {
        "kind": "reflect",
        "source_id": "reflect:1",
        "trajectory_id": "T1",
        "answers": [[7, "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="]],
        "sources": [1, 2, 3],
        "model": "small-model",
        "role": "reflect-1",
    },
    "create_playbook": {
        "kind": "create_playbook",
        "source_id": "playbook:1",
        "name": "release",
        "description": "How to release.",
        "agent_id": "builder",
        "user_id": "ada",
        "scope": "agent",
        "visibility": "private",
        "strategies": [{"text": "Run all tests.", "kind": "harmful", "confidence": 0.5}],
    },
    "update_playbook": {
        "kind": "update_playbook",
        "source_id": "playbook:2",
        "playbook_id": "PB1",
        "add": [{"text": "Read the changelog."}],
        "remove": ["ST1"],
    },
    "curate_playbook": {
        "kind": "curate_playbook",
        "source_id": "curation:1",
        "playbook_id": "PB1",
        "trajectory_id": "T1",
    },
    "playbook_used": {
        "kind": "playbook_used",
        "source_id": "use:1",
        "playbook_id": "PB1",
        "success": True,
    },
    "switch": {"kind": "switch", "source_id": "switch:1", "chain": "c12"},
    "skip_record": {
        "kind": "skip_record",
        "source_id": "skip_record:1",
        "topic": "events",
        "offset": 7,
        "hash": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
    },
}

# Table -> a row, by column.
ROWS: dict[str, dict[str, Any]] = {
    "facts": {
        "id": "F1", "text": "Ada lives in Zürich.", "context": "moving", "as_of": OCCURRED,
        "ingested_at": INGESTED, "source_event_id": "EV1", "metadata": "{}",
        "created_at": INGESTED, "signature": "ada live zürich",
    },
    "fact_entities": {"fact_id": "F1", "entity_id": "E1"},
    "causal_links": {
        "from_fact_id": "F1", "to_fact_id": "F2", "strength": 0.5, "created_at": INGESTED,
    },
    "fact_relations": {
        "fact_id": "F2", "target_fact_id": "F1", "relation": "EXTENDS", "confidence": 0.8,
        "created_at": INGESTED,
    },
    "fact_repeats": {
        "event_id": "EV2", "char_offset_start": 4, "fact_id": "F1", "reason": "same words",
    },
    "fact_occasions": {
        "fact_id": "F1", "event_id": "EV2", "char_start": 4, "said_at": OCCURRED,
        "text": "Ada lives in Zürich.", "reason": "said again: the same value", "is_standing": 1,
    },
    "claim_signatures": {"fact_id": "F1", "signature": "00ff", "as_of": OCCURRED},
    "fact_likenesses": {
        "fact_id": "F1", "key": "E1 00ff", "as_of": OCCURRED, "words": "AAECAw==",
        "vector": "QIE=",
    },
    "fact_sentences": {
        "fact_id": "F1", "event_id": "F1", "speaker": "E1", "said_at": OCCURRED,
        "sentence": "I moved.", "vector": "AQM=", "percent": 70,
        "attributes": "{\"home\":60}", "names": "", "is_standing": 1,
    },
    "fact_claims": {
        "fact_id": "F1", "subject": "E1", "attribute": "home", "value": "Zürich",
        "as_of": OCCURRED,
    },
    "fact_days": {"fact_id": "F1", "first_day": "2026-03-21", "last_day": "2026-03-22"},
    "message_dates": {
        "event_id": "EV1", "char_start": 10, "char_end": 18, "first_day": "2026-03-21",
        "last_day": "2026-03-21", "is_relative": 1,
    },
    "fact_supersessions": {"fact_id": "F1", "superseded_by": "F2", "invalid_at": OCCURRED},
    "withdrawn_supersessions": {"fact_id": "F1", "superseded_by": "F2", "is_withdrawn": 1},
    "stated_endings": {
        "event_id": "EV2", "position": 0, "role": "person", "subject": "E1", "also": "[\"E2\"]",
        "said_at": OCCURRED, "ended_by": "F2", "attributes": "{\"home\":60}",
        "nouns": "[\"flat\"]", "left_values": "{\"home\":[\"Zürich\"]}", "percent": 70,
        "words": "I left the flat in Zürich.", "is_standing": 1,
    },
    "merged_supersessions": {
        "fact_id": "F1", "subject": "E1", "attribute": "home", "superseded_by": "F2",
        "invalid_at": OCCURRED, "is_standing": 1,
    },
    "retractions": {
        "target_id": "F1", "event_id": "EV1", "char_start": 2, "char_end": 17,
        "retracted_by": "EV9", "replaced_at": OCCURRED, "is_standing": 1,
    },
    "retracted_facts": {
        "fact_id": "F1", "target_id": "F1", "retracted_by": "EV9", "invalid_at": OCCURRED,
        "is_void": 1, "is_standing": 1,
    },
    "episodes": {
        "id": "P1", "definition_id": "topic", "platform": "slack", "thread_id": "1700000000.1",
        "parent_id": "P0", "created_at": INGESTED,
    },
    "analysis_types": {
        "id": "tickets_v2", "name": "tickets", "version": "2", "output_type": "facets",
        "prompt_template": None, "patterns": '{"ticket":"[A-Z]+-[0-9]+"}',
    },
    "facets": {
        "id": "A1", "analysis_run_id": "R1", "episode_id": "P1", "facet_type": "pii_email",
        "value": "ada@example.org", "entity_id": "E1", "confidence": 0.99,
        "metadata_json": '{"event_id":"EV1","start":3,"end":18}', "created_at": OCCURRED,
    },
    "episode_events": {
        "episode_id": "P1", "event_id": "EV1", "definition_id": "topic", "number": 9,
        "occurred_at": OCCURRED, "is_standing": 1,
    },
    "fact_accesses": {"number": 9, "fact_id": "F1", "count": 2},
    "memory_processing_log": {
        "event_id": "EV1", "processed_at": INGESTED, "writer_run_id": "W1",
        "created_at": INGESTED,
    },
    "turns": {
        "id": "T1", "platform": "slack", "turn_id": "t-1", "event_id": "EV1",
        "completed_at": OCCURRED,
    },
    "analysis_runs": {
        "id": "R1", "analysis_type_id": "observation_v1", "episode_id": "EP1", "parent_id": None,
        "status": "completed", "started_at": INGESTED, "completed_at": INGESTED,
        "output_text": "Ada – home: Zürich (said 8 May 2026).", "error_message": None,
        "blocked_reason": None, "retry_count": 0, "created_at": INGESTED,
    },
    "observation_facts": {"analysis_run_id": "R1", "fact_id": "F1"},
    "observation_versions": {
        "analysis_run_id": "R1", "cluster_id": "CL1", "kind": "history", "entity_id": "E1",
        "label": "home", "number": 9,
    },
    "observation_items": {
        "analysis_run_id": "R1", "position": 0, "fact_id": "F1", "char_start": 12, "char_end": 36,
    },
    "fact_units": {
        "fact_id": "F1", "event_id": "EV1", "event_number": 1, "sources": "[1]",
        "said_at": OCCURRED, "first_day": "2026-05-08", "last_day": "2026-05-08",
        "units": '[["Ada lives in Zürich.",""]]', "number": 1,
    },
    "cluster_facts": {
        "cluster_id": "CL1", "fact_id": "F1", "kind": "slot", "entity_id": "E1", "topic": "home",
        "name": "Ada", "word": "Zürich", "unit": 0, "said_at": OCCURRED, "number": 1,
    },
    "cluster_changes": {"cluster_id": "CL1", "number": 2},
    "cluster_consolidations": {"cluster_id": "CL1", "number": 9},
    "consolidation_ticks": {"number": 8},
    "pass_ticks": {"number": 8, "name": "temporal", "at": INGESTED},
    "fact_merges": {
        "fact_id": "F1", "keeper_id": "F2", "reason": "the same words", "merged_at": INGESTED,
        "invalid_at": OCCURRED, "is_standing": 1,
    },
    "dreams": {
        "id": "D1", "bridge": "both need quiet", "insight": "Ada may look for quiet.",
        "surprise": 0.8, "model": "m", "number": 9, "created_at": INGESTED,
    },
    "dream_facts": {"dream_id": "D1", "fact_id": "F1"},
    "observation_merges": {"analysis_run_id": "R1", "keeper_cluster_id": "CL2"},
    "mental_models": {
        "id": "MM1", "name": "Ada", "description": "Lives in Zürich.", "subtype": None,
        "entity_id": "E1", "tags": "[]", "parent_id": None, "refresh_trigger": None,
        "last_refreshed": INGESTED, "created_at": INGESTED, "updated_at": INGESTED,
        "number": 5,
    },
    "mental_model_pages": {
        "model_id": "MM1", "entities": "[\"E1\"]",
        "blocks": "[[\"held\",\"held:home\",13,25,0,[\"F1\"]]]", "note_end": 0,
        "replaced_by": None,
    },
    "mental_model_refreshes": {"model_id": "MM1", "number": 9, "at": INGESTED},
    "mental_model_accesses": {"number": 9, "model_id": "MM1", "count": 2},
    "refresh_ticks": {"number": 9},
    "entity_changes": {"entity_id": "E1", "number": 9},
    "entity_facts": {
        "entity_id": "E1", "fact_id": "F1", "event_id": "EV1", "sources": "[4,9]",
        "text": "Ada lives in Zürich.", "name": "Ada", "speaker": "", "said_at": OCCURRED,
        "first_day": None, "last_day": None, "attribute": "home", "value": "Zürich",
        "beside": "[[\"E2\",\"Zürich\"]]", "ended_at": None, "is_told": 1, "number": 9,
    },
    "relationship_evidence": {
        "fact_id": "F1", "source_entity_id": "E1", "target_entity_id": "E2",
        "relationship_type": "LOCATED_IN", "confidence": 0.75, "char_start": 0, "char_end": 19,
        "rule": "live in",
    },
    "directives": {
        "id": "D1", "form": "language", "text": "Always answer in French.", "lifts": 0,
        "event_id": "EV1", "said_at": OCCURRED, "char_start": 0, "char_end": 24, "number": 9,
        "is_standing": 1,
    },
    "dependencies": {
        "id": "DP1", "event_id": "EV1", "said_at": OCCURRED, "char_start": 0, "char_end": 41,
        "number": 9, "is_standing": 1,
    },
    "dependency_terms": {
        "dependency_id": "DP1", "position": 0, "side": "condition", "term": "flight",
    },
    "writings": {
        "number": 8, "about": 4, "model": "small-model", "role": "own-1", "calls": 3,
        "tokens_in": 900, "tokens_out": 120, "cost": 0.25, "kept": 2, "repeated": 1,
        "refused": 1, "reasons": "{\"name\":1}",
    },
    "writer_texts": {
        "number": 9, "name": "names", "text": "Mel is Melanie.", "created_at": INGESTED,
    },
    "writer_text_proposals": {
        "id": "W1", "number": 8, "name": "role", "text": "Keep dates.", "reason": "they were lost",
        "model": "small-model", "role": "own-2", "created_at": INGESTED,
    },
    "writer_text_decisions": {
        "proposal_id": "W1", "status": "accepted", "number": 9, "decided_at": INGESTED,
    },
    "trajectories": {
        "id": "T1", "task": "Release version 2.1", "task_type": "release", "agent_id": "builder",
        "playbook_id": "PB1", "metadata": '{"ticket":7}', "number": 9, "started_at": OCCURRED,
        "user_id": "ada", "scope": "agent", "visibility": "private", "reader_user": "ada",
        "reader_agent": "builder",
    },
    "trajectory_steps": {
        "id": "S1", "trajectory_id": "T1", "kind": "tool_call", "content": "Run all tests.",
        "tool": "pytest", "number": 10, "at": OCCURRED,
    },
    "trajectory_completions": {
        "trajectory_id": "T1", "task_type": "release", "status": "partial", "success_score": 0.5,
        "error_message": "the login broke", "metrics": '{"seconds":41.5}', "number": 11,
        "completed_at": OCCURRED, "reader_user": "ada", "reader_agent": "builder",
    },
    "trajectory_feedback": {
        "id": "FB1", "trajectory_id": "T1", "score": 0.25, "source": "ab_test",
        "comment": "fewer sales", "number": 12, "given_at": OCCURRED,
    },
    "reflections": {
        "id": "RF1", "trajectory_id": "T1", "confidence": 0.75, "model": None, "successes": 2,
        "failures": 2, "number": 13, "created_at": OCCURRED,
    },
    "reflection_items": {
        "reflection_id": "RF1", "position": 0, "kind": "harmful", "text": "Push at once.",
        "impact": "2 of 2 runs with it failed", "confidence": 0.75, "in_successes": 0,
        "in_failures": 2, "evidence": '[["T1","S1"]]', "sources": "[10]",
    },
    "playbooks": {
        "id": "PB1", "name": "release", "description": "How to release.", "agent_id": "builder",
        "user_id": "ada", "scope": "agent", "visibility": "private", "number": 8,
        "created_at": OCCURRED,
    },
    "playbook_versions": {
        "id": "PV1", "playbook_id": "PB1", "version": 2, "trajectory_id": "T1", "number": 14,
        "created_at": OCCURRED,
    },
    "playbook_strategies": {
        "strategy_id": "ST1", "number": 14, "playbook_id": "PB1", "kind": "harmful",
        "text": "Push at once.", "confidence": 0.75, "is_standing": 1, "sources": "[10]",
    },
    "strategy_evidence": {
        "strategy_id": "ST1", "trajectory_id": "T1", "step_id": "S1", "number": 14,
    },
    "playbook_uses": {"number": 15, "playbook_id": "PB1", "success": 1, "used_at": OCCURRED},
    "memories": {
        "id": "EV3", "memory_type": "preference", "scope": "user", "visibility": "shared",
        "user_id": "ada", "agent_id": "helper", "reader_user": None, "reader_agent": None,
        "namespace": "/people/ada", "path_key": "drink", "importance": 0.75,
        "valid_at": OCCURRED, "invalid_at": INGESTED, "created_at": INGESTED,
        "abstraction_level": 1, "derived_from": "[\"EV1\",\"EV2\"]",
        "enrichments": "[\"extract_entities\",\"resolve_temporal\"]",
        "earliest_date": "2026-05-08", "latest_date": "2026-05-09",
        "temporal_stability": "semi_dynamic", "stability_confidence": 0.75, "number": 9,
    },
    "memory_versions": {
        "id": "EV3", "memory_id": "EV1", "version": 2, "length": 16,
        "place": "00112233445566778899aabbccddeeff", "supersedes_id": "EV1",
        "superseded_by_id": "EV4", "superseded_at": INGESTED, "state": "inactive",
        "state_set_by": "EV5",
    },
    "memory_references": {
        "memory_id": "EV3", "position": 0, "kind": "person", "value": "ada",
    },
    "memory_consolidations": {
        "id": "MC1", "level": 1, "method": "affinity", "first_at": OCCURRED, "last_at": INGESTED,
        "sources": "[3,5]", "has_statements": 1, "model": "gpt", "number": 9,
    },
    "memory_parents": {"child_id": "EV3", "parent_id": "MC1", "position": 1},
    "memory_statements": {
        "memory_id": "MC1", "position": 1, "text": "Ada prefers tea.", "positions": "[1,2]",
    },
    "memory_accesses": {"number": 9, "memory_id": "EV3", "count": 2, "at": INGESTED},
    "memory_archivals": {
        "memory_id": "EV3", "number": 10, "is_archived": 1, "cause": "expiry",
        "at": INGESTED,
    },
    "dead_letters": {
        "number": 7, "kind": "message", "reason": "too odd", "state": "parked",
        "parked_at": INGESTED,
    },
    "decisions": {
        "number": 4, "reads": "AAAAAAAAAAEAAAAAAAAAAg==", "writes": "AAAAAAAAAAM=",
        "restated": None,
    },
    "entities": {
        "id": "E1", "name": "Ada", "type": "person", "normalized": "ada",
        "source": "delivery", "created_at": INGESTED,
    },
    "handles": {
        "id": "H1", "platform": "slack", "handle": "U123", "entity_id": "E1", "display_name": "Ada",
        "created_at": INGESTED,
    },
    "mentions": {
        "event_id": "EV1", "fact_id": "", "entity_id": "E1", "char_offset_start": -1,
        "char_offset_end": -1, "mention_text": "Ada", "mention_type": "speaker",
        "confidence": 1.0, "first": "2026-05-08", "last": "2026-05-09", "time": "14:30",
    },
    "merge_candidates": {
        "id": "C1", "entity_a_id": "E1", "entity_b_id": "E2", "confidence": 0.9,
        "reason": "same handle", "created_at": INGESTED,
    },
    "merge_decisions": {
        "candidate_id": "C1", "status": "executed", "decided_at": INGESTED,
    },
    "merges": {
        "id": "M1", "winner_id": "E1", "loser_id": "E2", "confidence": 0.9,
        "reason": "same handle", "executed_at": INGESTED,
    },
    "merge_undos": {"merge_id": "M1", "undone_at": INGESTED},
    "merges_by_command": {"merge_id": "M1"},
    "embeddings": {
        "id": "V1", "target_type": "fact", "target_id": "F1", "model": "minilm",
        "embedding": "QIE=", "dimension": 2, "text_hash": "00ff", "created_at": INGESTED,
    },
    "token_vectors": {
        "target_type": "event", "target_id": "EV1", "model": "minilm", "form": "random128/3bit",
        "codes": "iMb6AAAA", "scales": "ADwAQA==", "units": "AgA=", "text_hash": "00ff",
        "created_at": INGESTED,
    },
    "readings": {
        "number": 7, "reader": "AlDmeg==", "text": "ABEiMw==", "content": "AQMMAQEBAAAEAg==",
    },
}  # fmt: skip

DRAFT: dict[str, Any] = {
    "platform": "recollect",
    "occurred_at": OCCURRED,
    "ingested_at": INGESTED,
    "payload": PAYLOADS["tick"],
}

# Name -> the parts of a change record: how many sources each has, and what it says.
CHANGES: dict[str, dict[str, Any]] = {
    **{f"row of {table}": {"parts": [{"sources": 1, "puts": {table: [ROWS[table]]}}]}
       for table in ROWS},
    "empty": {"parts": []},
    "parked": {"parked": True, "parts": [
        {"sources": 1, "puts": {"dead_letters": [ROWS["dead_letters"]]}}]},
    "two sources, rows of three files": {"parts": [
        {"sources": 2, "puts": {
            "facts": [ROWS["facts"]], "mentions": [ROWS["mentions"]],
            "embeddings": [ROWS["embeddings"]]}},
        {"sources": 1, "puts": {"turns": [ROWS["turns"]]}}]},
    "deletes": {"parts": [
        {"sources": 1, "puts": {}, "deletes": {
            "fact_accesses": [[9, "F1"]], "facts": [["F0"]], "handles": [["H0"]],
            "embeddings": [["fact", "F0", "minilm"]]}}]},
    "an erasure": {"erases": 2, "parts": []},
    "an outbox": {"parts": [{"sources": 1, "puts": {}, "outbox": [DRAFT]}]},
}  # fmt: skip


def hexed(keys: dict[bytes, bytes]) -> dict[str, str]:
    return {key_id.hex(): key.hex() for key_id, key in keys.items()}


def event(name: str, number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return (record, what it says) of a payload."""
    payload = PAYLOADS[name]
    key_id, key = new_key()
    draft = Draft(
        platform=PLATFORM,
        occurred_at=OCCURRED,
        payload=msgspec.convert(payload, AnyPayload),
    )
    value = write_event(
        draft,
        zone=ZONE,
        number=number,
        previous=bytes(range(32)),
        ingested_at=INGESTED,
        source=bytes(16),
        key_id=key_id,
        key=key,
    )
    says = {
        "format": EVENT_FORMAT,
        "zone": ZONE,
        "number": number,
        "id": event_id(ZONE, PLATFORM, payload["source_id"], OCCURRED),
        "platform": PLATFORM,
        "occurred_at": OCCURRED,
        "ingested_at": INGESTED,
        "version": VERSIONS.get(payload["kind"], 1),
        "payload": payload,
    }
    return {"topic": "events", "record": value.hex(), "keys": hexed({key_id: key})}, says


def change(name: str, number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return (record, what it says) of a change."""
    sample = CHANGES[name]
    keys = dict(new_key() for _ in range(3))
    every = tuple(Source(index, key_id) for index, key_id in enumerate(keys, 1))
    erases = every[: sample.get("erases", 0)]
    header = ChangeHeader(
        format=CHANGE_FORMAT,
        chain="main",
        zone=ZONE,
        number=number,
        event_hash=record_hash(name.encode()),
        event_offset=number + 3,
        previous=bytes(range(32)),
        is_parked=sample.get("parked", False),
        command_count=sum(len(part.get("outbox", [])) for part in sample["parts"]),
        erased_events=erases,
    )
    parts = []
    said = []
    for part in sample["parts"]:
        sources = every[: part["sources"]]
        decided = DecidedPart(
            sources=tuple(source.number for source in sources),
            puts=[
                msgspec.convert([tag_of(table), *row.values()], AnyRow)
                for table, rows in part["puts"].items()
                for row in rows
            ],
            deletes=[
                Delete(table, tuple(key))
                for table, found in part.get("deletes", {}).items()
                for key in found
            ],
            outbox=[msgspec.convert(draft, Draft) for draft in part.get("outbox", [])],
        )
        parts.append((sources, encode_part(decided)))
        said.append(
            {
                "sources": list(decided.sources),
                "puts": part["puts"],
                "deletes": part.get("deletes", {}),
                "outbox": part.get("outbox", []),
            }
        )
    value = write_change(header, parts, keys)
    says = {
        "format": CHANGE_FORMAT,
        "chain": "main",
        "zone": ZONE,
        "number": number,
        "event_hash": header.event_hash.hex(),
        "event_offset": number + 3,
        "previous": header.previous.hex(),
        "parked": header.is_parked,
        "asks": header.command_count,
        "erases": [[source.number, source.key_id.hex()] for source in erases],
        "parts": said,
    }
    return {"topic": "changes", "record": value.hex(), "keys": hexed(keys)}, says


def fragments(name: str, number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return (record, what it says) of a change that stands in the topic as several fragments."""
    record, says = change(name, number)
    value = bytes.fromhex(record["record"])
    return {**record, "record": [piece.hex() for piece in split(value, len(value) // 3)]}, says


def tag_of(table: str) -> str:
    return str(ROW_OF_TABLE[table].__struct_config__.tag)


def main(name: str) -> None:
    """Write the samples that are in no file yet; refuse to write over one."""
    records, says = HERE / f"{name}.jsonl", HERE / f"{name}.json"
    for path in (records, says):
        if path.exists():
            sys.exit(f"{path} is there; golden records are never written again")
    held = {sample for path in HERE.glob("*.json") for sample in json.loads(path.read_text())}
    lines: list[str] = []
    expected: dict[str, Any] = {}
    # The first formats' samples are called "event: …" and "change: …"; nobody can write those any
    # more.
    samples = [(f"event of format {EVENT_FORMAT}: {key}", event, key) for key in PAYLOADS]
    of_format = f"of format {CHANGE_FORMAT}"
    samples += [(f"change {of_format}: {key}", change, key) for key in CHANGES]
    samples += [
        (f"fragments {of_format}: {key}", fragments, key)
        for key in ["two sources, rows of three files"]
    ]
    for number, (sample, make, key) in enumerate(samples, 1):
        if sample not in held:
            record, expected[sample] = make(key, number)
            lines.append(json.dumps({"sample": sample, **record}) + "\n")
    if not lines:
        sys.exit("every sample is in a file already")
    records.write_text("".join(lines))
    says.write_text(json.dumps(expected, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.data.golden.make NAME")
    main(sys.argv[1])
