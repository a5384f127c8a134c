# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of files that samples are read from, by a table of suffixes: a new kind is a row and a function."""

from __future__ import annotations

import wave
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from executorch.devtools.accuracy.data import Data, Entry, Sample, Slot
from executorch.devtools.accuracy.metrics import Target
from executorch.devtools.commands.inputs.declared import Dimension, text_of
from executorch.devtools.commands.inputs.pictures import SUFFIXES, read_picture
from executorch.exir.scalar_type import ScalarType

_LABELS, _TARGETS = ("label", "labels"), ("target",)
_LEAST_GROUPS = 4  # files: of fewer, samples count for themselves
_CLASSES = "labels.txt"  # of a folder of pictures: one folder's name a line
Tokens = Callable[[str], list[int]]


@dataclass(frozen=True)
class Reading:
    """How pictures and texts become numbers: of floats (value / 255 - mean) / std, by channel; bytes stay. `tokenizer`:
    text -> tokens; `channels`: of pictures, RGB or BGR; `classes`: names of folders, in order."""

    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)
    tokenizer: Tokens | None = None
    channels: str = "RGB"
    classes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Kind:
    name: str
    suffixes: tuple[str, ...]
    entries: Callable[[Path, Sequence[Slot], Reading, Target | None], Iterator[Entry]]


def read(path: Path, slots: Sequence[Slot], reading: Reading | None = None) -> Data:
    """A `.npz` file, or a folder of files of one kind; its subfolders are labels where all files are in some."""
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file or folder")
    reading = reading or Reading()
    if path.is_file():
        kind, files = _kind_of([path], path), [path]
    else:
        files = sorted(each for each in path.rglob("*") if _is_data(each))
        kind = _kind_of(files, path)
        files = [each for each in files if each.suffix.lower() in kind.suffixes]
    labels = _labels(path, files, reading.classes)
    entries = [
        entry
        for file in files
        for entry in kind.entries(file, slots, reading, labels.get(file.parent))
    ]
    if not entries:
        raise ValueError(f"{path}: expected a sample or more, found none")
    if len({entry.group for entry in entries}) < _LEAST_GROUPS:
        entries = [replace(entry, group="") for entry in entries]
    data = Data(path, kind.name, entries, slots)
    target = data.sample(0).target or Target()
    return replace(data, has_labels=target.labels is not None, has_values=target.values is not None)


def _is_data(path: Path) -> bool:
    return path.is_file() and path.name != _CLASSES and not path.name.startswith(".")


def _kind_of(files: Sequence[Path], path: Path) -> _Kind:
    counts = {kind.name: sum(f.suffix.lower() in kind.suffixes for f in files) for kind in _KINDS}
    best = max(_KINDS, key=lambda kind: counts[kind.name])
    if not counts[best.name]:
        known = ", ".join(f"{kind.name} ({', '.join(kind.suffixes)})" for kind in _KINDS)
        raise ValueError(f"{path}: expected {known}, found {_found(files)}")
    return best


def _found(files: Sequence[Path]) -> str:
    names = [each.name for each in files[:3]]
    return ", ".join(names) + (", ..." if len(files) > 3 else "") if names else "no files"


def _labels(path: Path, files: Sequence[Path], known: Sequence[str]) -> dict[Path, Target]:
    """By folder: its line in labels.txt, its place in `known` where all names are there, its name where all are
    numbers, or its place among the names."""
    folders = sorted({file.parent for file in files})
    if not folders or path in folders or path.is_file():
        return {}
    names = [folder.relative_to(path).as_posix() for folder in folders]
    if (path / _CLASSES).exists():
        classes = (path / _CLASSES).read_text(encoding="utf-8").splitlines()
        unknown = [name for name in names if name not in classes]
        if unknown:
            raise ValueError(
                f"{path / _CLASSES}: expected a line for each folder, found none for {unknown[0]}"
            )
        numbers = [classes.index(name) for name in names]
    elif set(names) <= set(known):
        numbers = [known.index(name) for name in names]
    elif all(name.isdecimal() for name in names):
        numbers = [int(name) for name in names]
    else:
        numbers = list(range(len(names)))
    return {folder: Target(labels=np.array([number])) for folder, number in zip(folders, numbers)}


# ---- Arrays ----


def _arrays(
    path: Path, slots: Sequence[Slot], reading: Reading, _: Target | None
) -> Iterator[Entry]:
    """Inputs by name, arr_0, arr_1 ..., or input_0 ...; `label` or `target` (`target_0` ...). Arrays with one dimension
    more than the input, or with rows where a call may have one, hold a sample a row."""
    inputs, labels, targets = _sorted_out(path, slots)
    rows = [_rows(array, slot) for array, slot in inputs]
    counts = {count for count in rows if count is not None}
    if len(counts) > 1:
        raise ValueError(
            f"{path}: expected inputs of the same number of samples, found {sorted(counts)}"
        )
    if not counts:
        yield Entry(path.name, partial(_sample, path, slots, None))
        return
    (count,) = counts
    for what, array in (("label", labels), *(("target", each) for each in targets)):
        if array is not None and (not array.ndim or len(array) != count):
            raise ValueError(
                f"{path}: expected a {what} for each of {count} samples, found {text_of(array.shape)}"
            )
    for number in range(count):
        name = f"{path.name}[{number}]"
        yield Entry(name, partial(_sample, path, slots, number), str(path))


def _sample(path: Path, slots: Sequence[Slot], number: int | None) -> Sample:
    """Of a row of the file's arrays; None: all are one call's."""
    inputs, labels, targets = _sorted_out(path, slots)
    if number is None:
        chosen, wanted, values = labels, tuple(targets), tuple(array for array, _ in inputs)
        name = path.name
    else:
        row = slice(number, number + 1)
        chosen = None if labels is None else labels[row]
        wanted = tuple(each[row] for each in targets)
        values = tuple(_row(array, slot, number) for array, slot in inputs)
        name = f"{path.name}[{number}]"
    target = Target(chosen, wanted or None) if chosen is not None or wanted else None
    return Sample(name, values, target)


def _row(array: np.ndarray, slot: Slot, number: int) -> np.ndarray:
    if _rows(array, slot) is None:
        return array
    return array[number] if array.ndim > len(slot.shape) else array[number : number + 1]


@lru_cache(maxsize=1)
def _loaded(path: Path, changed: int) -> dict[str, np.ndarray]:
    try:
        with np.load(path, allow_pickle=False) as file:
            return {key: file[key] for key in file.files}
    except OSError:
        raise
    except Exception as problem:  # zip archives have their own
        raise ValueError(f"{path}: expected arrays (numpy.savez): {problem}") from problem


def _sorted_out(
    path: Path, slots: Sequence[Slot]
) -> tuple[list[tuple[np.ndarray, Slot]], np.ndarray | None, list[np.ndarray]]:
    """Inputs, labels, targets."""
    arrays = _loaded(path, path.stat().st_mtime_ns)
    tensors = [slot for slot in slots if slot.declared.dtype is not None]
    labels = next((arrays[name] for name in _LABELS if name in arrays), None)
    named = (*_TARGETS[:1], *(f"target_{number}" for number in range(len(arrays))))
    targets = [arrays[name] for name in named if name in arrays]
    rest = [name for name in arrays if name not in (*_LABELS, *named)]
    found = []
    for slot in tensors:
        number = slot.declared.number
        names = (slot.declared.name, f"arr_{number}", f"input_{number}", str(number))
        name = next((each for each in names if each and each in rest), None)
        if name is None:
            title = slot.declared.name or f"arr_{number}"
            raise ValueError(
                f"{path}: expected an array {title} for {slot.declared.title}, found {', '.join(arrays) or 'none'}"
            )
        rest.remove(name)
        found.append((arrays[name], slot))
    if rest:
        raise ValueError(
            f"{path}: expected arrays for {len(tensors)} input{'s' * (len(tensors) != 1)}, and `label` or `target`, "
            f"found {', '.join(rest)}, too"
        )
    return found, labels, targets


def _rows(array: np.ndarray, slot: Slot) -> int | None:
    """How many samples it holds; None for one that is a call's."""
    if array.ndim == len(slot.shape) + 1:
        return len(array)
    is_one = array.ndim != len(slot.shape) or not slot.shape or not slot.takes_one
    return None if is_one or len(array) == 1 else len(array)


# ---- Pictures ----


def _pictures(
    path: Path, slots: Sequence[Slot], reading: Reading, target: Target | None
) -> Iterator[Entry]:
    slot = _only(slots, path, "pictures")
    yield Entry(path.name, lambda: Sample(path.name, (_picture(path, slot, reading),), target))


def _picture(path: Path, slot: Slot, reading: Reading) -> np.ndarray:
    """[1, 3, height, width] or with channels last."""
    is_first, channels, height, width = _layout(path, slot)
    if slot.declared.dtype is ScalarType.BYTE and not is_first:
        height, width = slot.declared.dimensions[-3:-1]
    pixels = read_picture(path, height, width, channels, reading.channels)
    if np.issubdtype(slot.dtype, np.floating):
        mean, std = (np.asarray(each, np.float32) for each in (reading.mean, reading.std))
        pixels = ((pixels.astype(np.float32) / 255 - mean) / std).astype(slot.dtype)
    pixels = pixels.transpose(2, 0, 1) if is_first else pixels
    return np.ascontiguousarray(pixels).reshape((1,) * (len(slot.shape) - 3) + pixels.shape)


def _layout(path: Path, slot: Slot) -> tuple[bool, int, Dimension, Dimension]:
    """Whether channels come first, and the three sizes."""
    sizes = slot.shape[-3:]
    if len(slot.shape) in (3, 4):
        fixed = [Dimension(size, size) for size in sizes]
        if sizes[0] in (1, 3):
            return True, sizes[0], *fixed[1:]
        if sizes[2] in (1, 3):
            return False, sizes[2], *fixed[:2]
    raise ValueError(
        f"{path}: {slot.declared.title}: pictures go to 1 or 3 channels by height by width, found {text_of(slot.shape)}"
    )


# ---- Sounds ----

_WIDTHS = {1: np.uint8, 2: np.int16, 4: np.int32}


def _sounds(
    path: Path, slots: Sequence[Slot], reading: Reading, target: Target | None
) -> Iterator[Entry]:
    """Pieces as long as the input's last dimension, without the rest; a file that is shorter ends in zeros."""
    slot = _only(slots, path, "sounds")
    length = slot.shape[-1]
    samples = _wave(path)
    if len(samples) < length:
        samples = np.pad(samples, (0, length - len(samples)))
    for start in range(0, len(samples) - length + 1, length):
        piece = samples[start : start + length].astype(slot.dtype)
        name = f"{path.name}[{start // length}]"
        sizes = (1,) * (len(slot.shape) - 1) + (length,)
        yield Entry(name, partial(Sample, name, (piece.reshape(sizes),), target), str(path))


def _wave(path: Path) -> np.ndarray:
    """From -1 to 1, the mean of its channels."""
    try:
        with wave.open(str(path), "rb") as file:
            width, channels = file.getsampwidth(), file.getnchannels()
            data = file.readframes(file.getnframes())
    except (wave.Error, EOFError) as problem:
        raise ValueError(
            f"{path}: expected a sound of whole numbers (.wav): {problem}"
        ) from problem
    if width not in _WIDTHS:
        raise ValueError(f"{path}: expected samples of 8, 16 or 32 bits, found {8 * width}")
    numbers = np.frombuffer(data, _WIDTHS[width]).astype(np.float64).reshape(-1, channels)
    numbers = (numbers - 128) / 128 if width == 1 else numbers / 2.0 ** (8 * width - 1)
    return numbers.mean(1)


# ---- Texts ----


def _texts(
    path: Path, slots: Sequence[Slot], reading: Reading, _: Target | None
) -> Iterator[Entry]:
    """Pieces of tokens as long as the input; the labels of a piece are the tokens that follow."""
    slot = _only(slots, path, "texts")
    if reading.tokenizer is None:
        raise ValueError(
            f"{path}: expected --tokenizer FILE (a tokenizer.json), to make tokens of texts"
        )
    tokens = np.asarray(reading.tokenizer(path.read_text(encoding="utf-8")), dtype=slot.dtype)
    length = slot.shape[-1]
    for start in range(0, len(tokens) - length, length):
        piece, after = (tokens[s : s + length] for s in (start, start + 1))
        name = f"{path.name}[{start // length}]"
        sizes = (1,) * (len(slot.shape) - 1) + (length,)
        target = Target(labels=after)
        yield Entry(name, partial(Sample, name, (piece.reshape(sizes),), target), str(path))


def _only(slots: Sequence[Slot], path: Path, what: str) -> Slot:
    tensors = [slot for slot in slots if slot.declared.dtype is not None]
    if len(tensors) != 1 or not tensors[0].shape:
        raise ValueError(
            f"{path}: {what} go to a method of one input with sizes, found {len(tensors)} inputs: give .npz files"
        )
    return tensors[0]


_KINDS = (
    _Kind("arrays", (".npz",), _arrays),
    _Kind("pictures", SUFFIXES, _pictures),
    _Kind("sounds", (".wav",), _sounds),
    _Kind("texts", (".txt",), _texts),
)
