# SPDX-License-Identifier: BSD-3-Clause
"""What a program runs on: values of files, of a record, or drawn; for all commands that run one."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from executorch.devtools.commands.inputs.declared import Declared, Sizes, chosen, declared, sizes_of
from executorch.devtools.commands.inputs.pictures import SUFFIXES, picture_for
from executorch.exir import schema
from executorch.exir.scalar_type import ScalarType

_NAMED = 4  # inputs in a report's head


@dataclass(frozen=True)
class Used:
    """`value`: NumPy's or torch's array, or a Python value; `source`: where it is from."""

    declared: Declared
    value: Any
    source: str

    @property
    def shape(self) -> list[int]:
        return list(getattr(self.value, "shape", ()))

    @property
    def dtype(self) -> str:
        found = getattr(self.value, "dtype", type(self.value).__name__)
        return str(found).removeprefix("torch.")

    def row(self) -> dict[str, Any]:
        return {
            "input": self.declared.number,
            "name": self.declared.name,
            "dtype": self.dtype,
            "shape": self.shape,
            "from": self.source,
        }

    def __str__(self) -> str:
        is_tensor = hasattr(self.value, "shape")
        what = f"{self.dtype}{self.shape}" if is_tensor else repr(self.value)
        return f"{self.declared.name or self.declared.number}: {what} ({self.source})"


def is_asked(options: argparse.Namespace) -> bool:
    """Whether the user says what it runs on."""
    return bool(options.inputs or options.shape)


def used_inputs(
    plan: schema.ExecutionPlan,
    options: argparse.Namespace,
    recorded: Sequence[Any] | None = None,
    names: Sequence[str] = (),
    channels: str = "",
) -> list[Used]:
    """Each input by --inputs, else drawn at the sizes of --shape, else the recorded value where its sizes go with
    these, else drawn at the largest that do. `channels`: of pictures, RGB or BGR. ValueError for what the method does
    not take."""
    inputs = declared(plan, names)
    held = _held(inputs, options.inputs, channels)
    asked = _asked(inputs, options, held)
    shapes = asked | {number: tuple(value.shape) for number, (value, _) in held.items()}
    sizes_of(inputs, shapes)  # which are the user's: what does not fit is said of these
    for each, value in zip(inputs, recorded or (), strict=False):
        if each.dtype is None or each.number in shapes:
            continue
        if _goes_with(inputs, shapes, each.number, tuple(value.shape)):
            shapes[each.number] = tuple(value.shape)
            held[each.number] = value, "of the record"
    sizes = sizes_of(inputs, shapes)
    found = []
    for each in inputs:
        if each.dtype is None:
            found.append(Used(each, each.value, "as exported"))
        else:
            known = held.get(each.number)
            value, source = known or drawn(each, sizes[each.number], options.seed)
            found.append(Used(each, laid_out(value, each.dim_order), source))
    return found


def laid_out(value: Any, dim_order: Sequence[int]) -> Any:
    """The same values in memory as the method takes them: channels last, where it was exported so."""
    back = [dim_order.index(dim) for dim in range(len(dim_order))]
    if isinstance(value, np.ndarray):
        return np.asarray(value.transpose(dim_order), order="C").transpose(back)
    return value.permute(*dim_order).contiguous().permute(*back)


def _goes_with(
    inputs: Sequence[Declared], shapes: dict[int, Sizes], number: int, sizes: Sizes
) -> bool:
    try:
        sizes_of(inputs, {**shapes, number: sizes})
    except ValueError:
        return False
    return True


def _asked(
    inputs: Sequence[Declared], options: argparse.Namespace, held: dict[int, Any]
) -> dict[int, Sizes]:
    found: dict[int, Sizes] = {}
    for shape in options.shape:
        each = chosen(inputs, shape.input)
        if each.number in held or each.number in found:
            raise ValueError(f"{each.title}: it is given twice, by --shape and another option")
        if shape.dtype and each.dtype is not None and shape.dtype != each.dtype.dtype_name:
            raise ValueError(f"{each.title}: expected {each.dtype.dtype_name}, found {shape.dtype}")
        found[each.number] = shape.sizes
    return found


def _held(
    inputs: Sequence[Declared], files: Sequence[str], channels: str
) -> dict[int, tuple[Any, str]]:
    """Values of files, by the numbers of the inputs, and where each is from."""
    found: dict[int, tuple[Any, str]] = {}
    for key, value, path in arrays_of(files):
        each = chosen(inputs, key)
        if value is None:
            value = picture_for(path, each, channels)
        if each.number in found:
            raise ValueError(f"{path}: {each.title} has a value already")
        if each.dtype is None:
            raise ValueError(f"{path}: {each.title} is {each.value!r}, as exported")
        dtype = str(value.dtype).removeprefix("torch.")
        if dtype != each.dtype.dtype_name:
            raise ValueError(
                f"{path}: {each.title}: expected {each.dtype.dtype_name}, found {dtype}"
            )
        found[each.number] = value, f"of {path.name}"
    return found


def arrays_of(files: Sequence[str]) -> Iterator[tuple[str, Any, Path]]:
    """Names, values (None: a picture) and files; those without a name count from 0."""
    unnamed = 0
    for word in files:
        name, path = _place(word)
        if path.suffix == ".npy":
            arrays = {name: np.load(path, allow_pickle=False)}
        elif path.suffix == ".npz" and not name:
            with np.load(path, allow_pickle=False) as file:
                arrays = {key.removeprefix("arr_"): file[key] for key in file.files}
        elif path.suffix in (".pt", ".pth") and not name:
            arrays = _of_torch(path)
        elif path.suffix.lower() in SUFFIXES:
            arrays = {name: None}
        else:
            raise ValueError(f"{word}: expected .npy files, pictures, a .npz or a .pt file")
        for key, value in arrays.items():
            yield key or str(unnamed), value, path
            unnamed += not key


def _place(word: str) -> tuple[str, Path]:
    """`image=cat.npy` or `cat.npy`."""
    name, equals, path = word.partition("=")
    return (name, Path(path)) if equals and not Path(word).exists() else ("", Path(word))


def _of_torch(path: Path) -> dict[str, Any]:
    import torch

    try:
        found = torch.load(path)
    except OSError:
        raise
    except Exception as problem:  # zip archives and pickles have their own
        raise ValueError(f"{path}: expected a tuple of inputs (torch.save): {problem}") from problem
    if not isinstance(found, (tuple, list)):
        raise ValueError(f"{path}: expected a tuple of inputs, found {type(found).__name__}")
    return {str(number): each for number, each in enumerate(found) if hasattr(each, "shape")}


def drawn(each: Declared, sizes: Sizes, seed: int) -> tuple[Any, str]:
    """And what was drawn. Whole numbers are indices of something as a rule: 0 and 1 are in range for most."""
    assert each.dtype is not None, "a tensor"
    generator = np.random.default_rng((seed, each.number))
    name = each.dtype.dtype_name
    if each.dtype is ScalarType.BOOL:
        return np.ones(sizes, bool), "all true"
    if name.startswith(("float", "bfloat")):
        return _of_dtype(generator.standard_normal(sizes), name), f"standard normal, seed {seed}"
    if name.startswith("complex"):
        pair = generator.standard_normal((2, *sizes))
        return _of_dtype(pair[0] + 1j * pair[1], name), f"standard normal, seed {seed}"
    if name.startswith(("int", "uint")):
        return _of_dtype(generator.integers(0, 2, sizes), name), f"0 or 1, seed {seed}"
    raise ValueError(f"{each.title}: no values of {name} can be drawn: give them with --inputs")


def _of_dtype(array: Any, name: str) -> Any:
    """NumPy's where it has the dtype."""
    if hasattr(np, name):
        return np.asarray(array).astype(name)
    import torch

    return torch.from_numpy(np.asarray(array)).to(getattr(torch, name))


def as_torch(used: Sequence[Used]) -> list[Any]:
    import torch

    return [
        torch.from_numpy(each.value) if isinstance(each.value, np.ndarray) else each.value
        for each in used
    ]


def sentence(used: Sequence[Used]) -> str:
    """For the head of a report."""
    named = "; ".join(map(str, used[:_NAMED])) or "none"
    left = len(used) - _NAMED
    return f"Inputs: {named}" + (f"; and {left} more (--json has them)." if left > 0 else ".")
