"""Results of verifications, and certificates of erasures, which contain no erased text."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

#: The newest format of a certificate's statement.
CERTIFICATE_FORMAT = 1

Selector = Literal[
    "ids", "also", "entity", "sender", "thread", "platform", "time_after", "time_before"
]


class FileCheck(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A read model's content hashes."""

    model: Annotated[str, Meta(description="Name of the read model.")]
    hash: Annotated[str, Meta(description="Content hash of the live file.")]
    replayed: Annotated[str, Meta(description="Content hash of the replayed file.")]
    ok: Annotated[bool, Meta(description="The two are equal.")]


class ErasureRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The request for an erasure, without any text."""

    selectors: Annotated[list[Selector], Meta(description="Kinds of selectors that were given.")]
    ids: Annotated[int, Meta(description="Number of ids that were given.")]
    hashes: Annotated[
        list[str],
        Meta(
            description="Hashes, keyed with the home's secret, of the given ids and the entity's "
            "name. Nobody without the secret can test a guess against them."
        ),
    ]


class ErasedRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A record of the ledger that can no longer be read."""

    number: Annotated[int, Meta(description="Its running number in the ledger.")]
    key_id: Annotated[str, Meta(description="Id of its key, which was destroyed.")]


class ErasedRows(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Rows that an erasure removed from a table of a file."""

    model: Annotated[str, Meta(description="Name of the read model, and of its file.")]
    table: Annotated[str, Meta(description="Name of the table.")]
    rows: Annotated[int, Meta(description="Number of rows removed.")]


class ResidueScan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A scan of the home's files, which found none of the destroyed keys."""

    files: Annotated[int, Meta(description="Number of files of the home that were read.")]
    bytes: Annotated[int, Meta(description="Their size.")]
    keys: Annotated[
        int,
        Meta(
            description="Number of destroyed keys whose bytes were searched for in every file; 0 "
            "if the keys had been destroyed earlier."
        ),
    ]


class ErasureStatement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a certificate states."""

    format: Annotated[int, Meta(description="Format of the statement.")]
    zone: Annotated[str, Meta(description="Hash of the zone's name, keyed with the home's secret.")]
    request: Annotated[ErasureRequest, Meta(description="The request.")]
    erasure: Annotated[int, Meta(description="Number of the erasure command in the ledger.")]
    erased_at: Annotated[str, Meta(description="When the command was given.")]
    issued_at: Annotated[str, Meta(description="When the certificate was issued.")]
    head_before: Annotated[str, Meta(description="Head of the ledger before the command.")]
    head_after: Annotated[str, Meta(description="Head of the ledger with the command.")]
    erased: Annotated[list[ErasedRecord], Meta(description="The records that were erased.")]
    rows: Annotated[
        list[ErasedRows] | None,
        Meta(
            description="Rows removed from each table; null if the certificate was requested "
            "later than the erasure."
        ),
    ]
    replayed_to: Annotated[str, Meta(description="Head to which the ledger was replayed.")]
    replay: Annotated[
        list[FileCheck],
        Meta(description="The content hash of each read model, live and replayed from the ledger."),
    ]
    scan: Annotated[ResidueScan, Meta(description="The scan for residue.")]


class Certificate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The certificate of an erasure."""

    statement: Annotated[ErasureStatement, Meta(description="What it states.")]
    sha256: Annotated[
        str,
        Meta(
            description="SHA-256 of the statement as JSON with sorted keys and without spaces. The "
            "ledger contains the same hash."
        ),
    ]
    seal: Annotated[
        str, Meta(description="The same hash, keyed with the home's secret: proves the issuer.")
    ]
    recorded: Annotated[
        str,
        Meta(
            description="Head of the ledger that includes the record of this certificate. Anyone "
            "who stores this head can prove later that neither the ledger nor the certificate was "
            "changed since."
        ),
    ]


class CertificateSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A certificate in the list."""

    erasure: Annotated[int, Meta(description="Number of the erasure, by which it is fetched.")]
    erased_at: Annotated[str, Meta(description="When the erasure was requested.")]
    issued_at: Annotated[str, Meta(description="When the certificate was issued.")]
    selectors: Annotated[list[Selector], Meta(description="Kinds of selectors that were given.")]
    records: Annotated[int, Meta(description="Number of records that were erased.")]
    sha256: Annotated[str, Meta(description="Hash of its statement.")]
    recorded: Annotated[str, Meta(description="Head of the ledger with its record.")]


class CertificateCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The result of checking a certificate."""

    ok: Annotated[bool, Meta(description="All checks below passed.")]
    unchanged: Annotated[bool, Meta(description="The statement has the given hash.")]
    issued_here: Annotated[bool, Meta(description="This home issued it, for this zone.")]
    recorded: Annotated[bool, Meta(description="The ledger has its record, at the given head.")]
    in_ledger: Annotated[
        bool,
        Meta(description="The ledger has the erasure of these records, between the given heads."),
    ]
    keys_gone: Annotated[bool, Meta(description="None of the destroyed keys exists.")]
    hashes_agree: Annotated[
        bool, Meta(description="Each content hash matched its replay, when issued and now.")
    ]
    problems: Annotated[list[str], Meta(description="The checks that failed.")]


class Verification(msgspec.Struct, frozen=True):
    """The result of a verification."""

    ok: Annotated[bool, Meta(description="No problem was found.")]
    ledger_ok: Annotated[bool, Meta(description="The ledger's chain is intact.")]
    events: Annotated[int, Meta(description="Number of readable messages.")]
    head: Annotated[str, Meta(description="Head of the zone's ledger.")]
    lag: Annotated[
        int, Meta(description="Number of ledger records that the files do not have yet.")
    ]
    models: Annotated[
        list[FileCheck], Meta(description="The content hash of each read model, live and replayed.")
    ]
    problems: Annotated[list[str], Meta(description="The differences, with their locations.")]
    void_records: Annotated[int, Meta(description="Number of void records.")]
    certificate: Annotated[
        CertificateCheck | None, Meta(description="The check of the certificate that was given.")
    ] = None
