"""Install an encoder: choose a source, fetch, verify, convert, and pin the result."""

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
    ModelKind,
    ModelSource,
    PoolingSettings,
    Precision,
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
from recollect.streams.encoder.graphs.external_weights import (
    find_weightless_graph,
    write_weightless_graph,
)
from recollect.streams.encoder.loading import is_intact
from recollect.streams.encoder.pin import CONVERSION, Pin
from recollect.streams.encoder.sources import (
    DirectorySource,
    FileSource,
    HubSource,
    OnDownloadProgress,
    WheelSource,
    download_wheel,
    fetch,
)


class _Attempt(NamedTuple):
    """A source to try for a model; `model` is None if only the files can tell which it is."""

    source: ModelSource
    name: str
    model: Model | None
    open: Callable[[Path, OnDownloadProgress], FileSource]


class _InstalledFiles(NamedTuple):
    """Verified files in the cache, their origin, and the model's settings."""

    name: str
    checksums: Checksums
    settings: PoolingSettings
    origin: store.Origin


def install(
    name: str | None = None,
    *,
    precision: Precision = "int8",
    source: ModelSource | None = None,
    cache: Path,
    directory: Path | None = None,
    progress: OnDownloadProgress | None = None,
    registry: Mapping[str, Model] = REGISTRY,
    role: ModelKind = "encoder",
) -> Pin:
    """Install an encoder in `cache` and return its pin, which a home stores.

    `name`: a name in the registry, or a hub repository ("owner/name" or "owner/name@revision").
    With `directory`, it is the name to give the model (default: the directory's name). Without a
    name, the registry's first model is fetched from the hub; if the hub does not respond, the first
    model that has a wheel is used. `progress` reports the choice. Without a `source`, a model of
    the registry is fetched from the hub or, if that does not respond, from its wheel.

    A model of the registry must have the registry's checksums. Any other model is pinned on first
    installation, and its name gets a checksum suffix that keeps names unique. `role`: "reranker"
    installs a cross-encoder, which must be a BERT with a head of one class.

    A second call fetches and converts only what is missing or damaged. Raise InvalidInput,
    EncoderUnavailable, EncoderMismatch or EncoderUnsupported; files that fail verification are
    never used.
    """
    if precision not in get_args(Precision):
        raise InvalidInput(f"precision {precision!r}: choose from {', '.join(get_args(Precision))}")
    attempts = _attempts(name, source, directory, registry)
    return _install_first(attempts, precision, role, cache, progress or _ignore_progress, registry)


def reinstall(
    pin: Pin,
    *,
    cache: Path,
    source: ModelSource | None = None,
    directory: Path | None = None,
    progress: OnDownloadProgress | None = None,
    registry: Mapping[str, Model] = REGISTRY,
) -> bool:
    """Repair the pinned files in `cache`; return whether anything was missing or damaged.

    Files are fetched from their origin, or from `source` or `directory`, and must have the pinned
    checksums; intact files are not fetched. Raise the same errors as `install`.
    """
    if is_intact(pin, cache):
        return False
    report = progress or _ignore_progress
    step = f"{pin.model} is missing or damaged in {cache}; it is installed again"
    report(step, 0, 1)
    report(step, 1, 1)
    pinned = Model(
        name=pin.name,
        description="",
        repo=pin.place,
        revision=pin.revision,
        dimension=pin.dimension,
        settings=pin.settings,
        checksums=pin.checksums,
    )
    attempts = [
        attempt._replace(model=pinned) for attempt in _origins(pin, source, directory, registry)
    ]
    _install_first(attempts, pin.precision, pin.role, cache, report, registry)
    return True


def _origins(
    pin: Pin, source: ModelSource | None, directory: Path | None, registry: Mapping[str, Model]
) -> list[_Attempt]:
    """Return the sources of pinned files."""
    if directory is None and find(pin.name, registry) is None:
        if pin.source == "hub":
            return _attempts(f"{pin.place}@{pin.revision}", None, None, registry)
        # The directory may no longer exist; it is not needed if the cached files are intact.
        return [_from_directory(None, Path(pin.place), registry)]
    return _attempts(pin.name, source, directory, registry)


def _install_first(
    attempts: Sequence[_Attempt],
    precision: Precision,
    role: ModelKind,
    cache: Path,
    report: OnDownloadProgress,
    registry: Mapping[str, Model],
) -> Pin:
    """Install from the first source that responds, convert, and return the pin."""
    failures: list[str] = []
    with store.scratch_directory(cache) as scratch:
        for attempt in attempts:
            if failures:
                report(f"{failures[-1]}; trying {attempt.name} from the {attempt.source}", 0, None)
            try:
                installed = _install(attempt, cache, scratch, report, registry)
            except EncoderUnreachable as error:
                failures.append(str(error))
                continue
            return _convert(installed, precision, role, cache, scratch, report)
    raise EncoderUnreachable(
        f"no source has the encoder: {'; '.join(failures)}. Give a local directory with "
        f"{store.CONFIG}, {store.TOKENIZER} and {store.SAFETENSORS}"
    )


def _ignore_progress(label: str, done: int, total: int | None) -> None:
    """Ignore the progress."""


def _attempts(
    name: str | None,
    source: ModelSource | None,
    directory: Path | None,
    registry: Mapping[str, Model],
) -> list[_Attempt]:
    """Return the sources to try, in order; raise InvalidInput for contradictory arguments."""
    if source not in (None, *get_args(ModelSource)):
        raise InvalidInput(f"source {source!r}: choose from {', '.join(get_args(ModelSource))}")
    if directory is not None:
        if source not in (None, "directory"):
            raise InvalidInput(
                f"source {source!r}: it must be 'directory' when a directory is given"
            )
        if not directory.is_dir():
            raise InvalidInput(f"directory: {directory} is not a directory")
        return [_from_directory(name, directory, registry)]
    if source == "directory":
        raise InvalidInput("source 'directory': give the directory with the model's files")

    known = list(registry.values())
    if name is None:
        attempts = [_from_hub(model) for model in known[:1]]
        attempts += [_from_wheel(model, model.wheel) for model in known if model.wheel]
    elif model := find(name, registry):
        attempts = [_from_hub(model)]
        attempts += [_from_wheel(model, model.wheel)] if model.wheel else []
    elif "/" in name:
        attempts = [_from_any_repository(name)]
    else:
        raise InvalidInput(
            f"encoder {name!r} is unknown: give one of {', '.join(registry)}, a hub repository "
            "as owner/name, or a local directory"
        )
    chosen = [attempt for attempt in attempts if source in (None, attempt.source)]
    if not chosen:
        raise InvalidInput(
            f"source {source!r}: {name} is available from the {attempts[0].source} only"
        )
    return chosen


def _from_hub(model: Model) -> _Attempt:
    return _Attempt("hub", model.name, model, lambda *_: HubSource(model.repo, model.revision))


def _from_any_repository(name: str) -> _Attempt:
    repo, _, revision = name.partition("@")
    model_name = repo.rsplit("/", 1)[-1]
    return _Attempt("hub", model_name, None, lambda *_: HubSource(repo, revision or "main"))


def _from_wheel(model: Model, wheel: Wheel) -> _Attempt:
    def download(scratch: Path, report: OnDownloadProgress) -> FileSource:
        return WheelSource(download_wheel(wheel, scratch, report), wheel)

    return _Attempt("wheel", model.name, model, download)


def _from_directory(name: str | None, directory: Path, registry: Mapping[str, Model]) -> _Attempt:
    # Only an explicit name refers to the registry: a directory may have any name.
    model = find(name, registry) if name else None
    model_name = model.name if model else name or directory.resolve().name
    return _Attempt("directory", model_name, model, lambda *_: DirectorySource(directory))


def _install(
    attempt: _Attempt,
    cache: Path,
    scratch: Path,
    report: OnDownloadProgress,
    registry: Mapping[str, Model],
) -> _InstalledFiles:
    """Return a model whose files are in the cache, after fetching them if needed."""
    model = attempt.model
    if model is not None and (origin := _cached_origin(cache, model.checksums)):
        return _InstalledFiles(model.name, model.checksums, model.settings, origin)

    source = attempt.open(scratch, report)
    files = scratch / "files"
    checksums = _fetch(source, files, model.checksums if model else None, report)
    if model is None:
        model = next((known for known in registry.values() if known.checksums == checksums), None)
    if model is not None:
        name, settings = model.name, model.settings
    else:
        for file in SETTINGS_FILES:
            _fetch_optional(source, file, files, report)
        name, settings = f"{attempt.name}@{checksums.safetensors[:8]}", read_settings(files)
    origin = store.Origin(attempt.source, source.place, source.revision)
    if not _cached_origin(cache, checksums):
        _store(files, checksums, origin, cache, scratch)
    return _InstalledFiles(name, checksums, settings, origin)


def _cached_origin(cache: Path, checksums: Checksums) -> store.Origin | None:
    """Return the origin of the files in the cache, or None if they are missing or damaged."""
    directory = store.model_directory(cache, checksums)
    receipt = store.read_source(directory)
    if receipt is None or not store.source_is_intact(directory, checksums):
        return None
    return receipt.origin


def _fetch(
    source: FileSource, files: Path, pinned: Checksums | None, report: OnDownloadProgress
) -> Checksums:
    """Fetch the three files.

    If the first and smallest file cannot be fetched, raise EncoderUnreachable, so that the next
    source is tried.
    """
    expected = store.checksums_by_file(pinned) if pinned else {}
    checksums: dict[str, str] = {}
    for file in (store.CONFIG, store.TOKENIZER, store.SAFETENSORS):
        kind = EncoderUnavailable if checksums else EncoderUnreachable
        try:
            checksums[file] = fetch(
                source, file, files / file, sha256=expected.get(file), progress=report
            )
        except FileNotFoundError as error:
            raise kind(f"{source.label} has no {file}") from error
        except EncoderUnreachable as error:
            raise kind(str(error)) from error
    return Checksums(
        safetensors=checksums[store.SAFETENSORS],
        tokenizer=checksums[store.TOKENIZER],
        config=checksums[store.CONFIG],
    )


def _fetch_optional(source: FileSource, file: str, files: Path, report: OnDownloadProgress) -> None:
    try:
        fetch(source, file, files / file, sha256=None, progress=report)
    except FileNotFoundError:
        # Optional: read_settings has defaults.
        return


def _store(
    files: Path, checksums: Checksums, origin: store.Origin, cache: Path, scratch: Path
) -> None:
    directory = store.model_directory(cache, checksums)
    for file in (store.CONFIG, store.TOKENIZER, store.SAFETENSORS):
        store.move_into_cache(files / file, directory / file)
    receipt = store.SourceReceipt(checksums=checksums, origin=origin)
    store.write_receipt(receipt, "source", scratch=scratch, directory=directory)


def _convert(
    installed: _InstalledFiles,
    precision: Precision,
    role: ModelKind,
    cache: Path,
    scratch: Path,
    report: OnDownloadProgress,
) -> Pin:
    """Build the graph unless an intact one is cached, and return the pin."""
    directory = store.model_directory(cache, installed.checksums)
    shape = read_shape(directory)
    graph_name = store.graph_name(role, precision)
    receipt = store.read_graph(directory, graph_name)
    usable = (
        receipt is not None
        and receipt.conversion == CONVERSION
        and store.graph_is_intact(directory, receipt)
    )
    if not usable:
        # Imported here: only a conversion needs it, and loading must be fast.
        from recollect.streams.encoder.graphs.graph import build, build_pair
        from recollect.streams.encoder.word_pieces import vocabulary_size

        step = f"converting {installed.name} to {precision}"
        report(step, 0, 1)
        vocabulary = vocabulary_size(directory / store.TOKENIZER)
        tensors = read_tensors(directory / store.SAFETENSORS)
        if role == "reranker":
            graph = build_pair(tensors, shape, precision, vocabulary)
        else:
            layers = INNER_LAYERS if role == "reader" else ()
            graph = build(tensors, shape, precision, vocabulary, layers)
        store.write_graph(
            graph, graph_name, conversion=CONVERSION, scratch=scratch, directory=directory
        )
        receipt = store.read_graph(directory, graph_name)
        report(step, 1, 1)
    if receipt is not None and find_weightless_graph(directory, receipt) is None:
        write_weightless_graph(cache, directory, receipt)
    return Pin(
        name=installed.name,
        precision=precision,
        source=installed.origin.source,
        place=installed.origin.place,
        revision=installed.origin.revision,
        sha256=installed.checksums.safetensors,
        tokenizer_sha256=installed.checksums.tokenizer,
        config_sha256=installed.checksums.config,
        dimension=shape.hidden_size,
        settings=installed.settings,
        role=role,
    )
