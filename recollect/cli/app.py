"""The command `recollect`: its group, and how errors become messages and exit statuses."""

from __future__ import annotations

import logging
import os
import sys

import apsw
import click

from recollect.cli import asking, keeping, moving, writing
from recollect.cli.common import say
from schemas.display import folded, shown
from schemas.errors import Damaged, HomeError, InvalidInput, RecollectError

OK, FAILED, WRONG_USE, INTERRUPTED = 0, 1, 2, 130


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: recollect ingest chats.jsonl && recollect recall 'Where does Ada live?'",
)
@click.option("--home", metavar="DIR", help="Home directory [RECOLLECT_HOME, ~/.recollect].")
@click.option("--zone", metavar="NAME", help="Zone of one tenant's memory [default].")
@click.version_option(package_name="recollect")
@click.pass_context
def cli(context: click.Context, home: str | None, zone: str | None) -> None:
    """Long-term memory for AI agents, kept the way a bank keeps accounts."""
    context.obj = {"home": home, "zone": zone}


for command in (*writing.COMMANDS, *asking.COMMANDS, *keeping.COMMANDS, *moving.COMMANDS):
    cli.add_command(command)


def main() -> None:
    """Run the command line and exit: 0 success, 1 a failed check, 2 wrong use."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command and return its exit status."""
    # What a client of Kafka has to say is in the error that follows; a worker lets it speak.
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(_Shown())
    for argument in arguments:
        # A file may have any name; everything else is text.
        if not _is_text(argument) and not os.path.lexists(argument):
            return _say(f"the argument {argument!r} is not UTF-8", WRONG_USE)
    try:
        status = cli.main(arguments, prog_name="recollect", standalone_mode=False)
        return status if isinstance(status, int) else OK
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        return _refuse(error)
    except (click.Abort, KeyboardInterrupt):
        return _say("interrupted; what was committed stays", INTERRUPTED)
    except Damaged as error:
        return _say(str(error), FAILED)
    except (InvalidInput, HomeError) as error:
        return _say(str(error), WRONG_USE)
    except RecollectError as error:
        return _say(str(error), FAILED)
    except apsw.FullError:
        return _say("the disk is full; nothing was lost: free some space and try again", FAILED)
    except (apsw.CorruptError, apsw.NotADBError) as error:
        return _say(
            f"a file of this home is damaged ({error}): run recollect rebuild, which makes derived "
            "files again; recollect doctor says whether it is ledger.db or keys.db, which come "
            "from a backup",
            FAILED,
        )
    except apsw.SQLError as error:
        return _say(f"a file of this home lacks a table ({error}); run recollect rebuild", FAILED)
    except (apsw.BusyError, apsw.LockedError):
        return _say("another process holds a file of this home; try again", FAILED)
    except apsw.IOError as error:
        return _say(
            f"a file of this home could not be read or written ({error}), as on a full disk or a "
            "failing one; recollect doctor says what to do",
            FAILED,
        )
    except apsw.Error as error:
        return _say(f"SQLite: {error}; run recollect doctor", FAILED)
    except BrokenPipeError:
        sys.stderr.close()
        return OK
    except OSError as error:
        return _say(f"{error.strerror or error}: {error.filename or 'file'}", FAILED)


def _is_text(argument: str) -> bool:
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True


def _say(message: str, status: int) -> int:
    say(f"recollect: {message}", err=True)
    return status


def _refuse(error: click.ClickException) -> int:
    """Say what click found wrong, as click does, but that it may quote anything."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is not None:
        for line in (*context.get_usage().splitlines(), f"Try '{context.command_path} --help'."):
            say(line, err=True)
    say(f"Error: {folded(error.format_message())}", err=True)
    return WRONG_USE


class _Shown(logging.Formatter):
    """Writes what is logged so that a terminal shows it and does not obey."""

    def format(self, record: logging.LogRecord) -> str:
        return "\n".join(map(shown, super().format(record).splitlines()))
