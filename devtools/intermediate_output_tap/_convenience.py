# SPDX-License-Identifier: BSD-3-Clause
"""Tapped values of a program beside those of the model, as a table."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any

import pandas as pd
import torch
from torch.utils import _pytree as pytree

from executorch.devtools.intermediate_output_tap._spec import TapSpec
from executorch.devtools.intermediate_output_tap._strip_pass import strip_taps_
from executorch.devtools.intermediate_output_tap._tap_pass import (
    TapRule,
    tap_intermediate_outputs_,
)


def tap_compare(
    model: torch.nn.Module,
    example_inputs: tuple[Any, ...],
    partitioner: list[Any] | None = None,
    *,
    rules: Sequence[TapRule] | TapRule | None = None,
    error_on_empty: bool = True,
) -> tuple[pd.DataFrame, list[TapSpec]]:
    """Exports, taps, lowers and runs a model here; the table of compare_aot_runtime_dataframe()."""
    from executorch.exir import to_edge_transform_and_lower
    from executorch.runtime import Runtime

    with torch.no_grad():
        program = torch.export.export(model, example_inputs)
        program, specs = tap_intermediate_outputs_(program, rules, error_on_empty=error_on_empty)
        expected = pytree.tree_leaves(program.module()(*copy.deepcopy(example_inputs)))
    lowered = to_edge_transform_and_lower(program, partitioner=partitioner)
    strip_taps_(lowered)
    buffer = bytes(lowered.to_executorch().buffer)
    method = Runtime.get().load_program(buffer).load_method("forward")
    found = method.execute(pytree.tree_leaves(example_inputs))
    return compare_aot_runtime_dataframe(specs, expected, found), specs


def compare_aot_runtime_dataframe(
    specs: Sequence[TapSpec], aot_flat: Sequence[Any], rt_flat: Sequence[Any]
) -> pd.DataFrame:
    """A row for each tap: both sides' numbers; of whole tensors the signal-to-noise ratio in decibels, both sizes."""
    return pd.DataFrame(
        [_row(spec, aot_flat[spec.output_index], rt_flat[spec.output_index]) for spec in specs]
    )


def _row(spec: TapSpec, aot: torch.Tensor, rt: torch.Tensor) -> dict[str, Any]:
    row: dict[str, Any] = {
        "node_name": spec.node_name,
        "module_path": spec.module_path,
        "module_class": spec.module_class,
        "op_target": spec.op_target,
        "reducer_name": spec.reducer_name,
        "output_index": spec.output_index,
    }
    if not spec.fields:
        return {**row, "sqnr_db": _sqnr(aot, rt), "aot_numel": aot.numel(), "rt_numel": rt.numel()}
    for name, expected, found in zip(spec.fields, aot.tolist(), rt.tolist(), strict=True):
        row |= {f"aot_{name}": expected, f"rt_{name}": found}
    return row


def _sqnr(expected: torch.Tensor, found: torch.Tensor) -> float:
    """Infinite for equal values, not a number for other sizes."""
    if expected.numel() != found.numel():
        return math.nan
    signal = expected.double().reshape(-1)
    noise = float((found.double().reshape(-1) - signal).norm())
    return math.inf if noise == 0 else 20 * math.log10(float(signal.norm()) / noise)
