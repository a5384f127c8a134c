# SPDX-License-Identifier: BSD-3-Clause
"""Generated calls of every operator: the kernel equals eager PyTorch, and fails where eager fails."""

from __future__ import annotations

import warnings
import zlib
from functools import cache
from types import ModuleType
from typing import Any

import pytest
import torch

from codegen.schema import Schema
from kernels.test.call_generator import LEFT_OUT, Drawer, Start, eager, starts
from kernels.test.kernel_call import Call, functional_of, is_dense, load_library, load_schemas

_TOLERANCES = {
    torch.float16: (1e-2, 1e-2), torch.bfloat16: (6e-2, 6e-2), torch.float32: (1e-4, 1e-4),
    torch.float64: (1e-7, 1e-7),
}  # fmt: skip


# Where a kernel differs from eager, the kind of difference, and why it is so.
KNOWN = {
    "aten::_pdist_forward.out": ("fails", "tensors that are not of rank 2, which pdist refuses"),
    "aten::_upsample_bilinear2d_aa.out": ("fails", "Byte images, rounded in fixed point"),
    "aten::upsample_bilinear2d.vec_out": ("fails", "Byte images, rounded in fixed point"),
    "aten::div.out_mode": ("differs", "16-bit floats: eager rounds the quotient before it cuts it"),
    "aten::gelu.out": ("differs", "infinity of BFloat16 is NaN in eager's vectors"),
    "aten::prod.out": ("differs", "16-bit floats are multiplied wider than eager does"),
    "aten::scaled_dot_product_attention.out": (
        "fails",
        "no dropout, no broadcasting of leading dims; eager does not check empty inputs",
    ),
    "aten::var_mean.correction_out": ("differs", "eager's running means give NaN for infinity"),
}


@cache
def library(name: str) -> ModuleType:
    return load_library(name)


@cache
def schemas() -> dict[str, Schema]:
    return load_schemas()


def equal(found: torch.Tensor, wanted: torch.Tensor) -> bool:
    rtol, atol = _TOLERANCES.get(wanted.dtype, (0.0, 0.0))
    return found.shape == wanted.shape and torch.allclose(
        found, wanted, rtol=rtol, atol=atol, equal_nan=True
    )


def _is_undefined(values: list[Any]) -> bool:
    """Whether infinity or NaN is to become an integer, which C++ leaves open."""
    to_integers = any(isinstance(v, torch.dtype) and not v.is_floating_point for v in values)
    tensors = [v for v in values if isinstance(v, torch.Tensor) and v.dtype.is_floating_point]
    return to_integers and any(not bool(v.isfinite().all()) for v in tensors)


def difference(module: ModuleType, schema: Schema, values: list[Any]) -> str | None:
    """What is wrong with a call, or None. Calls that eager refuses may not succeed, unless eager
    has merely no kernel for the dtype."""
    if _is_undefined(values):
        return None
    try:
        expected, refused = eager(schema, values), None
    except NotImplementedError:
        return None
    except (RuntimeError, IndexError, ValueError, TypeError, OverflowError) as error:
        refused = str(error).splitlines()[0]
        if "not implemented for" in refused or "not supported" in refused:
            return None
        first = next((v for v in values if isinstance(v, torch.Tensor)), torch.zeros(2))
        expected = tuple(first for a in schema.arguments if a.is_out)
    call = Call(module, schema)
    for argument, value in zip(schema.arguments, values, strict=False):
        call.add_input(argument, value)
    expected = tuple(t if is_dense(t) else t.contiguous() for t in expected)
    in_place = schema.name.endswith("_")
    if not in_place:
        call.add_outputs(expected)
    failed = call.run() != 0
    if refused is not None:
        return None if failed else f"succeeds, eager: {refused[:120]}"
    if failed:
        return "fails, eager does not"
    found = [values[0]] if in_place else call.results()
    if schema.name in ("sort", "topk"):
        return _tie_difference(values, found, expected)
    for one, wanted in zip(found, expected, strict=True):
        if not equal(one, wanted):
            return f"differs: {_brief(one)} against {_brief(wanted)}"
    return None


def _tie_difference(
    values: list[Any], found: list[torch.Tensor], expected: tuple[torch.Tensor, ...]
) -> str | None:
    """Equal elements have any order: the values must be eager's, at the positions that are told."""
    x, dim = (values[0], values[2]) if len(values) == 5 else (values[0], values[1])
    if found[0].numel() == 0:
        return None if found[0].shape == expected[0].shape else "has another shape"
    if len(values) == 5 and not values[4]:  # topk, unsorted
        expected = (expected[0].sort(dim, descending=values[3]).values,)
    told = x.gather(dim, found[1])
    if not equal(found[0], expected[0]) or not equal(told, found[0]):
        return f"differs: {_brief(found[0])} against {_brief(expected[0])}"
    return None


def _brief(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        data = value.flatten()[:6].tolist()
        return f"{str(value.dtype)[6:]}{list(value.shape)}{data}"
    if isinstance(value, list):
        return "[" + ", ".join(_brief(v) for v in value) + "]"
    return str(value)


def differences(name: str, op: str, step: int) -> tuple[list[str], int]:
    """Runs every `step`-th start of an operator; the number of calls comes second."""
    failures, calls = [], 0
    for number, start in enumerate(starts()):
        if (number + zlib.crc32(op.encode())) % step:
            continue
        seed = zlib.crc32(f"{op}/{start}".encode())
        values = Drawer(seed, start).values(schemas()[op])
        calls += 1
        found = difference(library(name), schemas()[op], values)
        if found is not None and not _is_known(op, found):
            failures.append(f"{op}({', '.join(_brief(v) for v in values)}): {found}")
    return failures, calls


def _is_known(op: str, found: str) -> bool:
    return op in KNOWN and found.startswith(KNOWN[op][0])


def check(name: str, op: str, step: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        failures, calls = differences(name, op, step)
    assert calls > 0
    assert not failures, f"{len(failures)} of {calls}:\n" + "\n".join(failures[:8])


def _has_reference(schema: Schema) -> bool:
    """Some out-variants have no functional form with the same arguments; op_cases.py has those."""
    try:
        return schema.name.endswith("_") or functional_of(schema) is not None
    except (LookupError, AttributeError):
        return False


OPS = sorted(n for n, s in load_schemas().items() if n not in LEFT_OUT and _has_reference(s))


@pytest.mark.parametrize("name", ["portable", "optimized"])
@pytest.mark.parametrize("op", OPS)
def test_a_sample_of_calls(name: str, op: str) -> None:
    check(name, op, step=9)


@pytest.mark.full
@pytest.mark.parametrize("name", ["portable", "optimized"])
@pytest.mark.parametrize("op", OPS)
def test_all_calls(name: str, op: str) -> None:
    check(name, op, step=1)


def test_there_are_twenty_thousand_calls_for_a_library() -> None:
    assert len(OPS) * len(list(starts())) > 20_000


def test_a_wrong_kernel_is_found() -> None:
    schema = schemas()["aten::sub.out"]
    values = Drawer(1, Start(torch.float32, (5,), "rows")).values(schema)
    values[2] = 1
    wrong = Schema("aten", "add", "out", schema.arguments, schema.returns)
    values[1] = torch.ones(5)
    call = Call(library("portable"), schema)
    for argument, value in zip(schema.arguments, values, strict=False):
        call.add_input(argument, value)
    call.add_outputs(eager(wrong, values))
    assert call.run() == 0
    assert not equal(call.results()[0], eager(wrong, values)[0])
