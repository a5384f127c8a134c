# SPDX-License-Identifier: BSD-3-Clause
"""Samples of files: a `.npz` file, or a folder of such, of pictures, sounds or texts, as calls of one method. Files are
read when a sample is asked for; what does not fit the method's inputs is a ValueError with the file's name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from executorch.devtools.accuracy.metrics import Target
from executorch.devtools.commands.inputs.declared import Declared, Dimension, sizes_of, text_of
from executorch.devtools.commands.inputs.used import laid_out
from executorch.exir.scalar_type import ScalarType

_ANY = 2**31 - 1
_DTYPES = {each.dtype_name: each for each in ScalarType if each.dtype_name}


@dataclass(frozen=True)
class Slot:
    """An input of the method: its sizes, of which those that vary are the largest or the example's, and its value where
    it is no tensor."""

    declared: Declared
    shape: tuple[int, ...]

    @property
    def dtype(self) -> np.dtype:
        """NumPy's. ValueError for one that it lacks."""
        assert self.declared.dtype is not None, "a tensor"
        name = self.declared.dtype.dtype_name
        if not hasattr(np, name):
            raise ValueError(f"{self.declared.title}: data of {name} cannot be read")
        return np.dtype(name)

    @property
    def takes_one(self) -> bool:
        """Whether a call may have one row."""
        first = self.declared.dimensions[:1]
        return bool(first) and first[0].problem(0, 1) is None


@dataclass(frozen=True)
class Sample:
    """A call's inputs, and what it should give; no target where the data says nothing."""

    name: str
    inputs: tuple[Any, ...]
    target: Target | None = None


@dataclass(frozen=True)
class Entry:
    """`group`: of samples that have one origin, such as the pieces of a file; none: of its own."""

    name: str
    read: Callable[[], Sample]
    group: str = ""


@dataclass(frozen=True)
class Data:
    """`kind`: what the files are. `has_labels`, `has_values`: of its samples' targets."""

    path: Path
    kind: str
    entries: Sequence[Entry]
    slots: Sequence[Slot]
    has_labels: bool = False
    has_values: bool = False

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Sample]:
        return map(self.sample, range(len(self)))

    def sample(self, number: int) -> Sample:
        entry = self.entries[number]
        found = entry.read()
        return replace(found, inputs=fitting(found.inputs, self.slots, entry.name))

    def part(self, numbers: Sequence[int]) -> Data:
        return replace(self, entries=[self.entries[number] for number in numbers])

    @property
    def groups(self) -> list[str]:
        """Of each sample."""
        return [entry.group or f"{number}" for number, entry in enumerate(self.entries)]

    def parts(self, share: float, most: int, seed: int = 0) -> tuple[Data, Data]:
        """Drawn, groups as a whole: about such a share of all samples, `most` and no more, and all others."""
        if len(self) < 2:
            raise ValueError(
                f"{self.path}: expected two samples or more, to choose by some and measure by others, found {len(self)}"
            )
        members: dict[str, list[int]] = {}
        for number, group in enumerate(self.groups):
            members.setdefault(group, []).append(number)
        order = np.random.default_rng(seed).permutation(len(members)).tolist()
        groups = [list(members.values())[place] for place in order]
        wanted, first = min(most, max(1, round(share * len(self)))), groups.pop(0)
        while len(groups) > 1 and len(first) + len(groups[0]) <= wanted:
            first = first + groups.pop(0)
        rest = [number for group in groups for number in group]
        return self.part(sorted(first[:wanted])), self.part(sorted(rest))


def slots_of_examples(inputs: Sequence[Any], names: Sequence[str], is_open: bool) -> list[Slot]:
    """Of a model's example inputs, flat; `is_open`: sizes may be others."""
    found = []
    for number, value in enumerate(inputs):
        name = names[number] if number < len(names) else ""
        if not hasattr(value, "shape"):
            found.append(Slot(Declared(number, name, value=value), ()))
            continue
        shape = tuple(value.shape)
        sizes = [Dimension(0 if is_open else size, _ANY if is_open else size) for size in shape]
        dtype = _DTYPES[str(value.dtype).removeprefix("torch.")]
        order = tuple(range(len(shape)))
        found.append(Slot(Declared(number, name, dtype, sizes, dim_order=order), shape))
    return found


def fitting(values: Sequence[Any], slots: Sequence[Slot], where: str) -> tuple[Any, ...]:
    """As the method takes them, with the values of what is no tensor. ValueError for another number of inputs, dtype or
    size."""
    tensors = [slot for slot in slots if slot.declared.dtype is not None]
    if len(values) != len(tensors):
        raise ValueError(f"{where}: expected {_inputs(tensors)}, found {len(values)}")
    given = iter(values)
    arrays = [
        _of_dtype(np.asarray(next(given)), slot, where)
        if slot.declared.dtype is not None
        else slot.declared.value
        for slot in slots
    ]
    sizes = {
        slot.declared.number: array.shape for slot, array in zip(slots, arrays) if slot in tensors
    }
    try:
        sizes_of([slot.declared for slot in slots], sizes)
    except ValueError as problem:
        raise ValueError(f"{where}: {problem}") from None
    return tuple(
        laid_out(array, slot.declared.dim_order) if slot in tensors else array
        for array, slot in zip(arrays, slots)
    )


def _inputs(tensors: Sequence[Slot]) -> str:
    named = ", ".join(f"{each.declared.title} {text_of(each.shape)}" for each in tensors)
    return f"{len(tensors)} input{'s' * (len(tensors) != 1)}: {named}"


def _of_dtype(array: np.ndarray, slot: Slot, where: str) -> np.ndarray:
    """Floats of other widths and whole numbers that the dtype has are converted; no floats are made of whole numbers,
    as nobody says by which scale."""
    wanted = slot.dtype
    if array.dtype == wanted:
        return array
    are_floats = all(np.issubdtype(each, np.floating) for each in (array.dtype, wanted))
    are_whole = all(np.issubdtype(each, np.integer) for each in (array.dtype, wanted))
    if are_floats or (are_whole and (array == array.astype(wanted)).all()):
        return array.astype(wanted)
    raise ValueError(f"{where}: {slot.declared.title}: expected {wanted}, found {array.dtype}")
