"""Erasure certificates: issuing, listing and checking them."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import NamedTuple

import msgspec

from recollect.home.open_zone import OpenZone, unix_ms
from recollect.operations.ingestion.ingesting import command
from recollect.projections.content import row_counts
from recollect.schemas.errors import ErasureFailed, InvalidInput, UnknownId
from recollect.schemas.events import Certify, Forget
from recollect.schemas.ledger.records import read_event, record_hash
from recollect.schemas.times import format_time
from recollect.schemas.wire import (
    Certificate,
    CertificateCheck,
    CertificateSummary,
    ErasedRecord,
    ErasedRows,
    ErasureRequest,
    ErasureStatement,
    ResidueScan,
    Verification,
)
from recollect.schemas.wire.proofs import CERTIFICATE_FORMAT
from recollect.streams.ledger import Ledger
from recollect.streams.ledger.ledger import Head
from recollect.streams.publishing.commands import random_id
from recollect.streams.records.chain_readers import NEVER_ERASED, SealedEvent, sealed_events
from recollect.streams.records.heads import ExpectedHead, head_text
from recollect.streams.records.lookup import SealedRecord, records_at, records_of_kind

_SHOWN_PROBLEMS = 3


class ErasureEvidence(NamedTuple):
    """Evidence that exists only before an erasure: the keys that it destroys, and row counts."""

    keys: frozenset[bytes]
    rows: Mapping[tuple[str, str], int]


def collect_evidence(zone: OpenZone, numbers: Sequence[int]) -> ErasureEvidence:
    """Collect the evidence for a certificate; call this before the records are erased."""
    ledger = zone.node.ledger
    ids = [record.envelope.key_id for record in records_at(ledger, zone.name, numbers).values()]
    return ErasureEvidence(frozenset(ledger.keys.get(ids).values()), _row_counts(zone))


def issue(
    zone: OpenZone, erasure: int, request: ErasureRequest, evidence: ErasureEvidence | None = None
) -> Certificate:
    """Verify an erasure and record its certificate in the ledger, or return its existing one.

    `evidence`: collected before the erasure; None if the erasure was carried out earlier.

    Raises:
        ErasureFailed: erased data remains, or the replay differs from the files.
    """
    if (earlier := _recorded_certificates(zone).get(erasure)) is not None:
        return earlier
    ledger = zone.node.ledger
    now = {} if evidence is None else _row_counts(zone)
    zone.node.finish_purge(zone.name)
    from recollect.streams.lifecycle import residue, verifying

    verification = verifying.verify(zone.node, zone.name)
    problems = list(verification.problems)
    if ExpectedHead.read(verification.head).number - verification.lag < erasure:
        problems.append(f"the files have not reached the erasure, record {erasure}")
    event, targets = _erasure(ledger, zone.name, erasure)
    erased = _erased_records(ledger, zone.name, targets)
    problems += _key_problems(ledger, erased)
    scan = residue.scan_for_keys(zone.open_home.home.directory, evidence.keys if evidence else ())
    problems += [f"{path} contains a destroyed key" for path in scan.found]
    if problems or not verification.ok:
        raise ErasureFailed(
            f"zone {zone.name}: the erasure is in the ledger (record {erasure}), but cannot be "
            f"certified: {'; '.join(problems[:_SHOWN_PROBLEMS])}; verify the zone, then "
            "forget the same again with a certificate"
        )
    envelope = event.envelope
    statement = ErasureStatement(
        format=CERTIFICATE_FORMAT,
        zone=_zone_hash(ledger, zone.name),
        request=request,
        erasure=erasure,
        erased_at=format_time(envelope.occurred_at),
        issued_at=format_time(unix_ms()),
        head_before=head_text(Head(erasure - 1, envelope.previous)),
        head_after=head_text(Head(erasure, event.hash)),
        erased=erased,
        rows=None if evidence is None else _lost_rows(evidence.rows, now),
        replayed_to=verification.head,
        replay=verification.models,
        scan=ResidueScan(
            files=scan.files, bytes=scan.bytes, keys=0 if evidence is None else len(evidence.keys)
        ),
    )
    stored = msgspec.structs.replace(statement, erased=[])
    command(
        zone,
        Certify(
            source_id=random_id("certify"),
            erasure=erasure,
            statement=_canonical(stored),
            sha256=_hash(statement),
        ),
    )
    return _recorded_certificates(zone)[erasure]


def certificates(zone: OpenZone) -> list[CertificateSummary]:
    """Return the zone's certificates, the newest first."""
    zone.must_exist()
    return [
        CertificateSummary(
            erasure=certificate_.statement.erasure,
            erased_at=certificate_.statement.erased_at,
            issued_at=certificate_.statement.issued_at,
            selectors=certificate_.statement.request.selectors,
            records=len(certificate_.statement.erased),
            sha256=certificate_.sha256,
            recorded=certificate_.recorded,
        )
        for certificate_ in reversed(_recorded_certificates(zone).values())
    ]


def certificate(zone: OpenZone, erasure: int) -> Certificate:
    """Return the certificate of an erasure.

    Raises:
        UnknownId: the erasure has no certificate.
    """
    zone.must_exist()
    recorded = _recorded_certificates(zone).get(erasure)
    if recorded is None:
        raise UnknownId(
            f"zone {zone.name} has no certificate of erasure {erasure}; `certificates` lists them"
        )
    return recorded


def read_certificate(content: bytes, name: str) -> Certificate:
    """Decode a certificate's file.

    Raises:
        InvalidInput: the file is not a certificate.
    """
    try:
        return msgspec.json.decode(content, type=Certificate)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{name} is not a certificate, or was modified ({error}); run recollect certificates "
            "NUMBER to print the one in the ledger"
        ) from None


def check(zone: OpenZone, given: Certificate, verification: Verification) -> CertificateCheck:
    """Check a certificate against the ledger, with a `verification` made now."""
    ledger, statement = zone.node.ledger, given.statement
    problems: list[str] = []

    def passes(*reasons: str | None) -> bool:
        found = [reason for reason in reasons if reason is not None]
        problems.extend(found)
        return not found

    unchanged = passes(
        None
        if _hash(statement).hex() == given.sha256
        else "the statement was changed: it has another hash"
    )
    issued_here = passes(
        None
        if hmac.compare_digest(given.seal.encode(), _seal(ledger, given.sha256).encode())
        else "its seal is not from this home",
        None
        if statement.zone == _zone_hash(ledger, zone.name)
        else f"it belongs to a zone other than {zone.name}",
    )
    recorded = passes(*_record_problems(zone, given))
    in_ledger = passes(*_erasure_problems(ledger, zone.name, statement))
    keys_gone = passes(*_key_problems(ledger, statement.erased))
    hashes_agree = passes(
        None
        if all(file.ok and file.hash == file.replayed for file in statement.replay)
        else "the replay that it records differs from the files of that time",
        None if verification.ok else "verify finds problems now",
    )
    return CertificateCheck(
        ok=not problems,
        unchanged=unchanged,
        issued_here=issued_here,
        recorded=recorded,
        in_ledger=in_ledger,
        keys_gone=keys_gone,
        hashes_agree=hashes_agree,
        problems=problems,
    )


def erasures_of(ledger: Ledger, zone: str, hashes: Set[bytes], numbers: Set[int]) -> list[int]:
    """Return the erasures that were requested by one of `hashes`, or erased one of `numbers`.

    `hashes`: keyed hashes of ids. `numbers`: numbers of records.
    """
    matching = []
    for record in records_of_kind(ledger, zone, "forget"):
        event = record.open(ledger.keys)
        if event is not None and isinstance(event.payload, Forget):
            is_requested = not hashes.isdisjoint(event.payload.names)
            if is_requested or not numbers.isdisjoint(event.payload.targets):
                matching.append(event.number)
    return matching


def _recorded_certificates(zone: OpenZone) -> dict[int, Certificate]:
    """Return number of an erasure -> its certificate in the ledger, in the ledger's order."""
    ledger = zone.node.ledger
    recorded: dict[int, Certificate] = {}
    for value in ledger.events_of_kind(zone.name, "certify", 0):
        sealed = SealedRecord(*read_event(value.value))
        event = sealed.open(ledger.keys)
        if event is None or not isinstance(event.payload, Certify):
            continue
        stored = msgspec.json.decode(event.payload.statement, type=ErasureStatement)
        _, targets = _erasure(ledger, zone.name, event.payload.erasure)
        sha256 = event.payload.sha256.hex()
        # If two were issued at the same moment, the first counts.
        recorded.setdefault(
            event.payload.erasure,
            Certificate(
                statement=msgspec.structs.replace(
                    stored, erased=_erased_records(ledger, zone.name, targets)
                ),
                sha256=sha256,
                seal=_seal(ledger, sha256),
                recorded=head_text(Head(event.number, record_hash(value.value))),
            ),
        )
    return recorded


def _erasure(ledger: Ledger, zone: str, number: int) -> tuple[SealedEvent, tuple[int, ...]]:
    """Return the command of an erasure, and the numbers of the records that it erased.

    Raises:
        InvalidInput: the record is not an erasure.
    """
    # A certificate from a file may state any number.
    known = [number] if 0 < number <= ledger.head(zone).number else []
    for event in sealed_events(ledger, zone, known):
        opened = SealedRecord(event.envelope, event.record).open(ledger.keys)
        if opened is not None and isinstance(opened.payload, Forget):
            return event, opened.payload.targets
    raise InvalidInput(f"record {number} of zone {zone} is not an erasure")


def _erased_records(ledger: Ledger, zone: str, targets: Sequence[int]) -> list[ErasedRecord]:
    records = records_at(ledger, zone, targets)
    return [
        ErasedRecord(number, record.envelope.key_id.hex())
        for number, record in sorted(records.items())
        if record.envelope.kind not in NEVER_ERASED
    ]


def _key_problems(ledger: Ledger, erased: Sequence[ErasedRecord]) -> Iterator[str]:
    """Yield a problem if keys of erased records still exist."""
    try:
        ids = {bytes.fromhex(record.key_id): record.number for record in erased}
    except ValueError:
        yield "an id of a key is malformed"
        return
    if remaining := ledger.keys.get(list(ids)):
        numbers = sorted(ids[key_id] for key_id in remaining)
        yield f"keys of {len(numbers)} erased records exist, such as that of record {numbers[0]}"


def _record_problems(zone: OpenZone, given: Certificate) -> Iterator[str]:
    """Yield a problem if the ledger lacks the certificate, or has a different one."""
    recorded = _recorded_certificates(zone).get(given.statement.erasure)
    if recorded is None:
        yield "the ledger has no certificate of this erasure; was an older backup restored?"
    elif recorded != given:
        yield "the ledger has another certificate of this erasure"


def _erasure_problems(ledger: Ledger, zone: str, statement: ErasureStatement) -> Iterator[str]:
    """Yield a problem for each difference between a certificate and the erasure in the ledger."""
    try:
        event, targets = _erasure(ledger, zone, statement.erasure)
    except InvalidInput as error:
        yield str(error)
        return
    number, previous = event.envelope.number, event.envelope.previous
    if statement.head_after != head_text(Head(number, event.hash)):
        yield f"record {number} is not the one that head {statement.head_after} names"
    if statement.head_before != head_text(Head(number - 1, previous)):
        yield f"record {number} does not follow head {statement.head_before}"
    if statement.erased != _erased_records(ledger, zone, targets):
        yield f"record {number} erased other records"


def _canonical(statement: ErasureStatement) -> bytes:
    """Return the JSON that is hashed: sorted keys, no spaces."""
    return msgspec.json.encode(statement, order="sorted")


def _hash(statement: ErasureStatement) -> bytes:
    return hashlib.sha256(_canonical(statement)).digest()


def _keyed_hash(ledger: Ledger, domain: str, text: str) -> str:
    message = f"recollect {domain}\0{text}".encode()
    return hmac.digest(ledger.keys.secret, message, "sha256").hex()


def _seal(ledger: Ledger, sha256: str) -> str:
    return _keyed_hash(ledger, "certificate", sha256)


def _zone_hash(ledger: Ledger, zone: str) -> str:
    return _keyed_hash(ledger, "zone", zone)


def _row_counts(zone: OpenZone) -> dict[tuple[str, str], int]:
    """Return the number of rows of each (read model, table) of the generation in use."""
    with zone.files() as files:
        return {
            (model.name, table): count
            for model in files.all
            for table, count in row_counts(model).items()
        }


def _lost_rows(
    before: Mapping[tuple[str, str], int], after: Mapping[tuple[str, str], int]
) -> list[ErasedRows]:
    """Return how many rows each table has lost; tables that grew meanwhile are left out."""
    return [
        ErasedRows(model, table, rows - after[model, table])
        for (model, table), rows in before.items()
        if rows > after[model, table]
    ]
