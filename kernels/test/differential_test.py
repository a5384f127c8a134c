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

from executorch.codegen.schema import Schema
from kernels.test.call_generator import LEFT_OUT, Drawer, Start, eager, starts
from kernels.test.kernel_call import Call, functional_of, is_dense, load_library, load_schemas

_TOLERANCES = {
    torch.float16: (1e-2, 1e-2), torch.bfloat16: (6e-2, 6e-2), torch.float32: (1e-4, 1e-4),
    torch.float64: (1e-7, 1e-7), torch.complex64: (1e-4, 1e-4), torch.complex128: (1e-7, 1e-7),
}  # fmt: skip


# Where a kernel differs from eager, the kind of difference, and why it is so.
KNOWN = {
    "aten::_pdist_forward.out": ("fails", "tensors that are not of rank 2, which pdist refuses"),
    "aten::_upsample_bilinear2d_aa.out": ("fails", "Byte images, rounded in fixed point"),
    "aten::upsample_bilinear2d.vec_out": ("fails", "Byte images, rounded in fixed point"),
    "aten::div.out_mode": ("differs", "16-bit floats: eager rounds the quotient before it cuts it"),
    "aten::div.out": ("differs", "the sign of infinity where complex numbers are divided by -0"),
    "aten::gelu.out": ("differs", "infinity of BFloat16 is NaN in eager's vectors"),
    "aten::prod.out": ("differs", "16-bit floats are multiplied wider than eager does"),
    "aten::scaled_dot_product_attention.out": (
        "fails",
        "no dropout, no broadcasting of leading dims; eager does not check empty inputs",
    ),
    "aten::var_mean.correction_out": ("differs", "eager's running means give NaN for infinity"),
}


def _names(kind: str, names: str) -> set[str]:
    return {f"aten::{name}.{kind}" for name in names.split()}


_UNARY = (
    "acos acosh asin asinh atan atanh cos cosh exp expm1 log log10 log1p log2 reciprocal rsqrt"
    " sigmoid sin sinh sqrt tan tanh neg"
)
# What must take complex numbers; other operators may refuse them.
COMPLEX = (
    _names("out", f"{_UNARY} abs logical_not _conj_physical add sub mul div mm bmm addmm cat clone")
    | _names("out", "permute_copy view_copy copy prod mean flip repeat roll stack gather")
    | _names("out", "unsqueeze_copy expand_copy alias_copy detach_copy lift_fresh_copy linear")
    | _names("Scalar_out", "add sub mul div eq ne fill masked_fill rsub")
    | _names("Tensor_out", "eq ne slice_copy split_copy")
    | _names("int_out", "select_copy transpose_copy unbind_copy")
    | {"aten::sum.IntList_out", "aten::mean.dtype_out", "aten::where.self_out"}
)
# What may write over its first argument: each element depends on the element at its own place.
IN_PLACE = sorted(
    _names(
        "out", f"{_UNARY} abs ceil floor round trunc sign relu erf logical_not bitwise_not clamp"
    )
    | _names("out", "add sub mul div maximum minimum atan2 hardtanh leaky_relu elu hypot")
    | _names("Scalar_out", "add sub mul div eq ne lt le gt ge remainder fmod pow")
    | _names("Tensor_out", "eq ne lt le gt ge remainder fmod bitwise_and bitwise_or bitwise_xor")
    | {"aten::pow.Tensor_Scalar_out", "aten::pow.Tensor_Tensor_out", "aten::where.self_out"}
)


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
    to_integers = any(
        isinstance(v, torch.dtype) and not v.is_floating_point and not v.is_complex for v in values
    )
    tensors = [v for v in values if isinstance(v, torch.Tensor) and v.dtype.is_floating_point]
    return to_integers and any(not bool(v.isfinite().all()) for v in tensors)


def _is_optional(op: str, values: list[Any], expected: tuple[torch.Tensor, ...]) -> bool:
    """Whether a kernel may refuse the call: most complex numbers, and dtypes that kernels do not have."""
    if any(t.dtype == torch.complex32 for t in expected):
        return True
    to_real = any(isinstance(v, torch.dtype) and not v.is_complex for v in values)
    return _has_complex(values) and (to_real or op not in COMPLEX)


def _has_complex(values: list[Any]) -> bool:
    flat = [v for value in values for v in (value if isinstance(value, list) else [value])]
    types = [v.dtype if isinstance(v, torch.Tensor) else v for v in flat]
    return any(isinstance(t, torch.dtype) and t.is_complex for t in types)


def _misfit(like: torch.Tensor) -> torch.Tensor:
    """A tensor that is too small for a result like this; too large, where nothing is smaller."""
    shape = list(like.shape) or [2]
    shape[0] = 2 if not like.shape else shape[0] - 1 if shape[0] > 0 else 1
    return torch.empty(shape, dtype=like.dtype)


def difference(
    module: ModuleType, schema: Schema, values: list[Any], outputs: str = "static"
) -> str | None:
    """What is wrong with a call, or None. Calls that eager refuses may not succeed, unless eager
    has merely no kernel for the dtype. Outputs are "static", "dynamic" (with room to spare) or
    "misfit", which must fail."""
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
    expected = tuple(t if is_dense(t) else t.contiguous() for t in expected)
    in_place = schema.name.endswith("_")
    outputs = "static" if in_place or not expected else outputs
    call = Call(module, schema, dynamic=outputs == "dynamic")
    for argument, value in zip(schema.arguments, values, strict=False):
        call.add_input(argument, value)
    if not in_place:
        made = (_misfit(expected[0]), *expected[1:]) if outputs == "misfit" else expected
        call.add_outputs(made)
    failed = call.run() != 0
    if refused is not None or outputs == "misfit":
        reason = f"eager: {refused[:120]}" if refused is not None else "into an output that misfits"
        return None if failed else f"succeeds, {reason}"
    if failed:
        optional = _is_optional(schema.qualified_name, values, expected)
        return None if optional else "fails, eager does not"
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
        outputs = ("static", "dynamic", "static", "misfit")[seed % 4]
        found = difference(library(name), schemas()[op], values, outputs)
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
    """Some out-variants have no functional form with the same arguments; cases/ has those."""
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


@pytest.mark.parametrize("name", ["portable", "optimized"])
@pytest.mark.parametrize("op", [op for op in IN_PLACE if op in OPS])
def test_an_output_may_be_the_first_input(name: str, op: str) -> None:
    """Calls whose result has the first tensor's dtype, shape and layout write over it."""
    schema, done = schemas()[op], 0
    place = next(i for i, a in enumerate(schema.arguments) if a.type == "Tensor")
    place = 1 if op == "aten::where.self_out" else place
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for start in starts():
            values = Drawer(zlib.crc32(f"{op}/{start}".encode()), start).values(schema)
            first = values[place]
            try:
                (expected,) = eager(schema, values)
            except (RuntimeError, NotImplementedError, TypeError, OverflowError):
                continue
            fits = expected.dtype == first.dtype and expected.shape == first.shape
            if not fits or expected.stride() != first.stride() or first.dtype.is_complex:
                continue
            call = Call(library(name), schema)
            for argument, value in zip(schema.arguments, values, strict=False):
                call.add_input(argument, value)
            call.items.append(("tensor", call.view_of(first)))
            assert call.run() == 0, [_brief(v) for v in values]
            assert equal(first, expected), (_brief(first), _brief(expected))
            done += 1
    assert done > 10


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
