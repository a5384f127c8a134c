# SPDX-License-Identifier: BSD-3-Clause
"""What a method takes and gives, as text: names, dtypes, sizes with their ranges."""

from __future__ import annotations

from executorch.exir import schema

Ranges = dict[int, int]  # the least sizes, by dimension


def signature(plan: schema.ExecutionPlan) -> str:
    """`forward(image: float[<=64, 3]) -> float[<=64, 10]`."""
    outputs = output_texts(plan)
    is_one = len(outputs) == 1 and not any(plan.output_names)
    given = ", ".join(outputs)
    return f"{plan.name}({', '.join(input_texts(plan))}) -> {given if is_one else f'({given})'}"


def input_texts(plan: schema.ExecutionPlan) -> list[str]:
    return _texts(plan, plan.inputs, plan.input_names, plan.input_dimension_rows)


def output_texts(plan: schema.ExecutionPlan) -> list[str]:
    return _texts(plan, plan.outputs, plan.output_names, plan.output_dimension_rows)


def _texts(
    plan: schema.ExecutionPlan,
    indices: list[int],
    names: list[str],
    rows: list[list[int]],
) -> list[str]:
    """`rows` begin with a place, a dimension and its least size."""
    least: dict[int, Ranges] = {}
    for place, dimension, low, *_ in rows:
        least.setdefault(place, {})[dimension] = low
    return [
        _text(plan, index, name, least.get(place, {}) if rows else None)
        for place, (index, name) in enumerate(zip(indices, names, strict=True))
    ]


def _text(plan: schema.ExecutionPlan, index: int, name: str, least: Ranges | None) -> str:
    """`least`: None where the file says no more than that the tensor varies."""
    value = plan.values[index].val
    text = type(value).__name__
    if isinstance(value, schema.Tensor):
        is_static = value.shape_dynamism == schema.TensorShapeDynamism.STATIC
        sizes = [
            _size(size if is_static else 0 if least is None else least.get(dimension, size), size)
            for dimension, size in enumerate(value.sizes)
        ]
        text = f"{schema.ScalarType(value.scalar_type).name.lower()}[{', '.join(sizes)}]"
    return f"{name}: {text}" if name else text


def _size(low: int, high: int) -> str:
    if low == high:
        return str(high)
    return f"<={high}" if low <= 1 else f"{low}..{high}"
