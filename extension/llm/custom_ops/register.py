# SPDX-License-Identifier: BSD-3-Clause
"""Operators of the table custom_ops.yaml with PyTorch: the out variants that programs call and, without the out
arguments, their functional forms."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import yaml

# name -> (eager implementation, rule for results)
Operators = dict[str, tuple[Callable[..., Any], Callable[..., Any]]]


def _functional(schema: str) -> str:
    """`f(Tensor x) -> Tensor` for `f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)`, a list too."""
    called, _, returned = schema.partition(" -> ")
    returned = "Tensor[]" if returned == "()" else returned
    called = re.sub(r", \*, .*\)$", ")", called.replace(".out(", "(", 1))
    return f"{called} -> {re.sub(r'[(][a-z]![)]', '', returned)}"


# Out variants whose result may share no memory with an argument, as their kernels want it.
_APART = {"channelwise_gated_delta_rule": ("final_state_out", "initial_state")}


def _writes_to(outs: list[str], compute: Callable[..., Any]) -> Callable[..., Any]:
    def out_variant(*args: Any, **kwargs: Any) -> Any:
        targets = [kwargs.pop(name) for name in outs]
        results = compute(*args, **kwargs)
        if isinstance(targets[0], list):
            for target, result in zip(targets[0], results, strict=True):
                target.resize_(result.shape).copy_(result)
            return None
        for target, result in zip(targets, [results] if len(outs) == 1 else results, strict=True):
            target.resize_(result.shape).copy_(result)
        return targets[0] if len(outs) == 1 else tuple(targets)

    return out_variant


def _keeps_apart(
    schema: torch._C.FunctionSchema, names: tuple[str, str], out_variant: Callable[..., Any]
) -> Callable[..., Any]:
    arguments = [argument.name for argument in schema.arguments]

    def checked(*args: Any, **kwargs: Any) -> Any:
        given = {**dict(zip(arguments, args)), **kwargs}
        result, source = (given[name] for name in names)
        starts = result.data_ptr(), source.data_ptr()
        if starts[0] < starts[1] + source.nbytes and starts[1] < starts[0] + result.nbytes:
            raise RuntimeError(
                f"{schema.name}: {names[0]} must not alias {names[1]}, found memory of both"
            )
        return out_variant(*args, **kwargs)

    return checked


def register(library: torch.library.Library, operators: Operators) -> None:
    """The rows of the table that `operators` has, in the namespace of `library`."""
    table = yaml.safe_load(Path(__file__).with_name("custom_ops.yaml").read_text())
    for row in table:
        namespace, _, schema = row["func"].partition("::")
        name = schema.partition(".")[0]
        if namespace != library.ns or name not in operators:
            continue
        compute, rule = operators[name]
        parsed = torch._C.parse_schema(row["func"])
        outs = [arg.name for arg in parsed.arguments if arg.is_out]
        out_variant = _writes_to(outs, compute)
        if name in _APART:
            out_variant = _keeps_apart(parsed, _APART[name], out_variant)
        library.define(_functional(schema))
        library.define(schema)
        library.impl(name, compute, "CompositeExplicitAutograd")
        library.impl(f"{name}.out", out_variant, "CompositeExplicitAutograd")
        torch.library.register_fake(f"{namespace}::{name}", rule, lib=library)
        torch.library.register_fake(f"{namespace}::{name}.out", _writes_to(outs, rule), lib=library)
