# SPDX-License-Identifier: BSD-3-Clause
"""Operators of quantization that stay whole, and schemas of out variants."""

from __future__ import annotations

import contextlib
import importlib
import re
from typing import Any

import torch


def _known(namespace: str, names: tuple[str, ...]) -> list[torch._ops.OpOverload]:
    """The overloads that this installation has: a name is `op.overload`."""
    library = getattr(torch.ops, namespace)
    found = []
    for name in names:
        op, _, overload = name.partition(".")
        packet = getattr(library, op, None)
        if packet is not None and overload in packet.overloads():
            found.append(getattr(packet, overload))
    return found


_DECOMPOSED = (
    "dequantize_per_channel.default",
    "dequantize_per_tensor.default",
    "dequantize_per_tensor.tensor",
    "convert_element_type.no_fuse",
    "quantize_per_tensor.default",
    "quantize_per_tensor.tensor",
    "quantize_per_channel.default",
    "choose_qparams.tensor",
)
_AFFINE = ("dequantize_affine.default", "quantize_affine.default", "choose_qparams_affine.default")


def quant_primitives() -> list[torch._ops.OpOverload]:
    """Operators of quantization that passes and backends match on: they are never decomposed. Those that
    nothing has defined yet are not among them."""
    return [*_known("quantized_decomposed", _DECOMPOSED), *_known("torchao", _AFFINE)]


def __getattr__(name: str) -> Any:
    """`_QUANT_PRIMITIVES`: all of them. The packages that define them take long to import, so that is done when
    somebody asks."""
    if name != "_QUANT_PRIMITIVES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    importlib.import_module("torch.ao.quantization.fx._decomposed")
    with contextlib.suppress(ImportError):
        importlib.import_module("torchao.quantization.quant_primitives")
    return quant_primitives()


def gen_out_variant_schema(func_op_schema: str) -> str:
    """The schema of the variant that writes into given tensors: `ns::op(Tensor a) -> Tensor` gives
    `ns::op.out(Tensor a, *, Tensor(a!) out) -> Tensor(a!)`; a list is written and not returned."""
    schema = torch._C.parse_schema(func_op_schema)
    if any(argument.is_out for argument in schema.arguments):
        return func_op_schema
    kinds = [str(each.type) for each in schema.returns]
    if not kinds or any(kind not in ("Tensor", "List[Tensor]") for kind in kinds):
        raise AssertionError(
            f"Expected at least one tensor-like return, and no other: {func_op_schema}"
        )
    head, _, rest = func_op_schema.partition("(")
    name, _, overload = head.partition(".")
    inputs = re.sub(r"\([a-z]!?\)", "", rest[: rest.rindex(") ->")])
    if name.endswith("_") and not name.endswith("__"):  # what it writes is an input of the other
        name = name.removesuffix("_")
    outs = [
        f"Tensor({letter}!){'[]' if kind == 'List[Tensor]' else ''}"
        for letter, kind in zip("abcdefghijklmnopqrstuvwxyz", kinds)
    ]
    names = ["out"] if len(outs) == 1 else [f"out{number}" for number in range(len(outs))]
    arguments = [inputs] if inputs else []
    arguments += [] if "*," in inputs else ["*"]
    arguments += [f"{kind} {each}" for kind, each in zip(outs, names)]
    returned = [kind for kind in outs if not kind.endswith("[]")]
    result = returned[0] if len(returned) == 1 else f"({', '.join(returned)})"
    suffix = f"{overload}_out" if overload else "out"
    return f"{name}.{suffix}({', '.join(arguments)}) -> {result}"
