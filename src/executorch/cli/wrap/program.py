# SPDX-License-Identifier: BSD-3-Clause
"""A program as a typed class sees it: methods, what they take and give, and the names that a language has for these."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from executorch.cli.wrap.names import Words, identifiers, type_name
from executorch.devtools.commands.inputs.declared import (
    Declared,
    Dimension,
    declared,
    declared_outputs,
    sizes_of,
)
from executorch.devtools.commands.program_file import program_of
from executorch.exir import schema
from executorch.exir.scalar_type import ScalarType
from executorch.extension.processing.carried import labels_of

TENSOR = "tensor"
KINDS = {
    schema.Tensor: TENSOR,
    schema.Int: "int",
    schema.Double: "float",
    schema.Bool: "bool",
    schema.String: "str",
    schema.Null: "none",
}
_LETTERS = "nmkpqrstuvw"


@dataclass(frozen=True)
class Value:
    """`name`: in the language; `title`: as the file and the runtime's messages have it, a number without a name;
    `example`: the largest sizes of an input that go with those of the others."""

    name: str
    title: str
    kind: str
    declared: Declared
    sizes: str = ""
    example: tuple[int, ...] = ()

    @property
    def is_tensor(self) -> bool:
        return self.kind == TENSOR

    @property
    def dtype(self) -> str:
        """PyTorch's name."""
        assert self.declared.dtype is not None, "a tensor"
        return self.declared.dtype.dtype_name

    @property
    def rank(self) -> int:
        return len(self.declared.dimensions)

    @property
    def is_row_major(self) -> bool:
        order = self.declared.dim_order
        sizes = self.declared.largest
        moved = [dim for dim in order if sizes[dim] != 1]
        return moved == sorted(moved)

    @property
    def other_name(self) -> str:
        """For comments: what messages of the runtime call it, where that is something else."""
        known = self.declared.name
        return f", {self.title} in the file" if known and known != self.name else ""

    @property
    def text(self) -> str:
        """For comments: `float32 [1..8, 3]`."""
        if not self.is_tensor:
            return self.kind
        order = ", ".join(map(str, self.declared.dim_order))
        return f"{self.dtype} {self.sizes}" + ("" if self.is_row_major else f", dim order {order}")


@dataclass(frozen=True)
class Method:
    """`inputs` are all of the program's; callers give the `arguments`, as numbers are those of the export. `results`
    are the outputs but those that are None. `together`: what sizes that go together are."""

    name: str
    key: str
    result_type: str
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    together: str

    @property
    def arguments(self) -> list[Value]:
        return [each for each in self.inputs if each.is_tensor]

    @property
    def needed(self) -> list[Value]:
        """The inputs but those that are None at the end, which may be left out."""
        count = len(self.inputs)
        while count and self.inputs[count - 1].kind == "none":
            count -= 1
        return list(self.inputs[:count])

    @property
    def results(self) -> list[Value]:
        return [each for each in self.outputs if each.kind != "none"]

    @property
    def found(self) -> tuple[Value, Value] | None:
        """`classes` and `scores` of the results, as steps behind a model give them: what labels belong to."""
        named = {each.declared.name: each for each in self.results if each.is_tensor}
        classes, scores = named.get("classes"), named.get("scores")
        if classes is None or scores is None or classes.declared.dtype is not ScalarType.LONG:
            return None
        are_floats = scores.declared.dtype is ScalarType.FLOAT
        return (classes, scores) if are_floats and classes.sizes == scores.sizes else None

    @property
    def tensors(self) -> list[Value]:
        return [each for each in (*self.inputs, *self.outputs) if each.is_tensor]

    def returned(self, nothing: str, type_of: dict[str, str]) -> str:
        """The type of what it gives: `type_of` has that of each result by name."""
        results = self.results
        if not results:
            return nothing
        return type_of[results[0].name] if len(results) == 1 else self.result_type

    def notes(self) -> list[str]:
        """Lines for a comment: what callers give and get."""
        lines = [f"{each.name}: {each.text}{each.other_name}" for each in self.arguments]
        if self.together:
            lines.append(self.together)
        fixed = [
            f"{each.declared.name or each.name} is {each.declared.value!r}"
            for each in self.inputs
            if not each.is_tensor
        ]
        if fixed:
            lines.append(_plain(f"As exported: {', '.join(fixed)}"))
        if len(self.results) == 1:
            lines.append(f"Gives {self.results[0].text}")
        return lines


@dataclass(frozen=True)
class Program:
    file: str
    class_name: str
    methods: tuple[Method, ...]
    labels: tuple[str, ...]
    package: str = ""

    @property
    def labeled(self) -> list[Method]:
        """Methods whose results have labels."""
        return [each for each in self.methods if self.labels and each.found is not None]


def read(path: Path, words: Words, class_name: str = "", only: Sequence[str] = ()) -> Program:
    """ValueError for a file that is no program or a corrupted one, and for values that no class has."""
    program = program_of(path)
    plans = {plan.name: plan for plan in program.execution_plan}
    if unknown := [name for name in only if name not in plans]:
        raise ValueError(f"{path}: expected a method of {', '.join(plans)}, found {unknown[0]}")
    chosen = [plan for name, plan in plans.items() if not only or name in only]
    for plan in chosen:
        if not plan.name.isprintable():
            raise ValueError(f"{path}: expected methods with printable names, found {plan.name!r}")
    name = class_name or type_name(path.stem, words)
    taken = (*words.members, *words.types, name)
    keys = identifiers([(plan.name, "method") for plan in chosen], words, taken)
    types = [f"{type_name(key, words)}Outputs" for key in keys]
    if len({*types, name}) <= len(types):  # ab_c and abC
        types = [f"Outputs{number}" for number in range(len(types))]
    methods = tuple(map(partial(_method, path, words), chosen, keys, types))
    return Program(path.name, name, methods, _labels(path, program))


def _method(
    path: Path, words: Words, plan: schema.ExecutionPlan, key: str, result_type: str
) -> Method:
    inputs, outputs = declared(plan), declared_outputs(plan)
    symbols, together = _symbols(inputs)
    examples = sizes_of(inputs, {})
    where = f"{path}: method {plan.name}"

    def values(found: Sequence[Declared], indices: Sequence[int], role: str) -> tuple[Value, ...]:
        kinds = [
            _kind(where, plan, index, each, role)
            for each, index in zip(found, indices, strict=True)
        ]
        taken = words.locals if role == "input" else words.fields
        given = [(each.name, f"{role}_{each.number}") for each in found]
        names = identifiers(given, words, (*taken, *words.types))
        return tuple(
            Value(
                name,
                _plain(each.name or str(each.number)),
                kind,
                each,
                _sizes(each, symbols),
                examples.get(each.number, ()) if role == "input" else (),
            )
            for name, kind, each in zip(names, kinds, found, strict=True)
        )

    return Method(
        plan.name,
        key,
        result_type,
        values(inputs, plan.inputs, "input"),
        values(outputs, plan.outputs, "output"),
        together,
    )


def _kind(where: str, plan: schema.ExecutionPlan, index: int, each: Declared, role: str) -> str:
    value = plan.values[index].val
    kind = KINDS.get(type(value))
    if kind is None:
        name = f" ({each.name})" if each.name else ""
        raise ValueError(
            f"{where}, {role} {each.number}{name}: expected a tensor, a number, a truth value, a text or None, found "
            f"{type(value).__name__}"
        )
    return kind


def _symbols(inputs: Sequence[Declared]) -> tuple[dict[int, str], str]:
    """Letters for groups of dimensions that depend on each other, and a sentence with their ranges."""
    groups: dict[int, list[Dimension]] = {}
    for each in inputs:
        for dimension in each.dimensions:
            if dimension.group is not None:
                groups.setdefault(dimension.group, []).append(dimension)
    symbols: dict[int, str] = {}
    ranges = []
    for group, dimensions in groups.items():
        if len(dimensions) == 1 and (dimensions[0].scale, dimensions[0].offset) == (1, 0):
            continue
        number = len(symbols)
        symbol = _LETTERS[number] if number < len(_LETTERS) else f"n{number}"
        symbols[group] = symbol
        bounds = [_numbers(each) for each in dimensions]
        least, most = max(low for low, _ in bounds), min(high for _, high in bounds)
        ranges.append(f"{symbol} from {least} to {most}")
    return symbols, "; ".join(ranges)


def _numbers(dimension: Dimension) -> tuple[int, int]:
    """The least and the largest n whose size is one of the dimension."""
    low, high = dimension.low, dimension.high
    first, last = (low, high) if dimension.scale > 0 else (high, low)
    return -((dimension.offset - first) // dimension.scale), dimension.number(last)


def _sizes(each: Declared, symbols: dict[int, str]) -> str:
    def text(dimension: Dimension) -> str:
        if dimension.group in symbols:
            scale = "" if dimension.scale == 1 else f"{dimension.scale}*"
            offset = f"{dimension.offset:+d}" if dimension.offset else ""
            return f"{scale}{symbols[dimension.group]}{offset}"
        low, high = dimension.low, dimension.high
        return str(high) if low == high else f"{low}..{high}"

    return f"[{', '.join(map(text, each.dimensions))}]"


def _plain(text: str) -> str:
    """For comments of every language."""
    return re.sub(r"[^\w .,:;+*()\[\]'=-]", "_", text)


def _labels(path: Path, program: schema.Program) -> tuple[str, ...]:
    try:
        return labels_of(program.user_metadata)
    except ValueError as problem:
        raise ValueError(f"{path}: {problem}") from None
