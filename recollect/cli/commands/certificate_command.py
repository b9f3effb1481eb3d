"""The command that lists erasure certificates, and the files that hold them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.cli.options import common_options, open_zone
from recollect.cli.output import print_json, print_line
from recollect.schemas.errors import InvalidInput
from recollect.schemas.text_sanitising import pluralise

if TYPE_CHECKING:
    from recollect.schemas.wire import Certificate


def check_new_file(path: Path) -> None:
    """Raise InvalidInput if the file exists, or cannot be created."""
    if path.exists() or path.is_symlink():
        raise InvalidInput(f"{path} exists; name a new file for the certificate")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise InvalidInput(f"{path.parent} is not a writable directory")


def write_certificate(path: Path, certificate: Certificate) -> None:
    """Write a certificate to a new file.

    Raises:
        InvalidInput: it cannot be written; the ledger has the certificate nevertheless.
    """
    import msgspec

    content = msgspec.json.format(msgspec.json.encode(certificate)) + b"\n"
    try:
        with path.open("xb") as file:
            file.write(content)
    except OSError as error:
        number = certificate.statement.erasure
        raise InvalidInput(
            f"the erasure is certified, but {path} cannot be written ({error.strerror}); run "
            f"recollect certificates {number} to print the certificate"
        ) from None


def read_certificate_file(path: Path) -> Certificate:
    """Read a certificate from a file.

    Raises:
        InvalidInput: it cannot be read, is not a certificate, or was modified.
    """
    from recollect.operations.erasure.certifying import read_certificate

    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}") from None
    return read_certificate(content, str(path))


@click.command(epilog="Example: recollect certificates")
@common_options
@click.argument("number", type=click.IntRange(min=1), required=False)
def certificates(home: str | None, zone: str | None, as_json: bool, number: int | None) -> None:
    """List the certificates of erasures, or print one as JSON.

    NUMBER is the number of the erasure, as the list shows it.
    """
    with open_zone(home, zone) as memory:
        if number is not None:
            print_json(memory.certificate(number))
            return
        certificates_ = memory.certificates()
    if as_json:
        print_json({"certificates": certificates_})
    elif not certificates_:
        print_line("no certificates")
    for item in () if as_json else certificates_:
        erased = pluralise(item.records, "record")
        by = ", ".join(item.selectors)
        print_line(f"{item.erasure:>8}  {item.erased_at}  {erased} by {by}  {item.sha256[:16]}")


COMMANDS = (certificates,)
