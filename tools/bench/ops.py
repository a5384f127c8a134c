# SPDX-License-Identifier: BSD-3-Clause
"""Operators of the default kernel library beside eager PyTorch, at one thread and at all: `make bench`.

Every row is one operator on one shape. The last column is our time over eager's; a row above the limit makes the
command fail. Both sides run in one process, one after the other, on as many processors as they have threads.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

_SCALAR_KINDS = {"int": "int", "SymInt": "int", "float": "float", "bool": "bool", "str": "str"}
_FACTORY = (
    "layout",
    "device",
    "pin_memory",
)  # arguments of functional forms that out-variants lack
_NO_KERNEL = "no kernel"
# A ratio above this is measured again, and the best time of each side counts: a machine may stall once.
_SURPRISING, _ROUNDS = 2.0, 3
_SETTLE_SECONDS = 0.01  # worker threads of one side go to sleep before the other side is timed


@dataclass(frozen=True)
class Case:
    """One measurement: operator, arguments of its functional form, what to print."""

    op: str
    label: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)

    @property
    def out_overload(self) -> torch._ops.OpOverload:
        name, overload = self.op.split(".")
        return getattr(getattr(torch.ops.aten, name), overload)

    @property
    def functional(self) -> torch._ops.OpOverload:
        packet = getattr(torch.ops.aten, self.op.split(".")[0])
        wanted = [
            (a.name, str(a.type)) for a in self.out_overload._schema.arguments if not a.is_out
        ]
        for overload in packet.overloads():
            schema = getattr(packet, overload)._schema
            found = [(a.name, str(a.type)) for a in schema.arguments if a.name not in _FACTORY]
            if not any(a.is_out for a in schema.arguments) and found == wanted:
                return getattr(packet, overload)
        raise LookupError(f"no functional form of {self.op}")


def _matmul_cases() -> Iterator[Case]:
    for m, k, n in (
        (64, 512, 512),
        (256, 256, 256),
        (1024, 1024, 1024),
        (128, 1024, 256),
        (1, 1280, 1000),
    ):
        a, b, w = torch.randn(m, k), torch.randn(k, n), torch.randn(n, k)
        bias = torch.randn(n)
        shape = f"{m}x{k}x{n}"
        yield Case("mm.out", shape, (a, b))
        yield Case("addmm.out", shape, (bias, a, b))
        yield Case("linear.out", shape, (a, w, bias))
    yield Case(
        "addmm.out",
        "alpha 2",
        (torch.randn(512), torch.randn(64, 512), torch.randn(512, 512)),
        {"alpha": 2},
    )
    yield Case("linear.out", "4x512x512", (torch.randn(4, 512), torch.randn(512, 512), None))
    for b, m, k, n in ((12, 128, 64, 128), (12, 128, 128, 64), (8, 197, 64, 197), (64, 16, 16, 16)):
        yield Case("bmm.out", f"{b}x{m}x{k}x{n}", (torch.randn(b, m, k), torch.randn(b, k, n)))
    for dtype in (torch.bfloat16, torch.float16):
        a, w = torch.randn(64, 512).to(dtype), torch.randn(512, 512).to(dtype)
        yield Case("linear.out", f"64x512x512 {dtype}".replace("torch.", ""), (a, w, None))


def _convolution_cases() -> Iterator[Case]:
    # batch, in, out, size, kernel, stride, pad, dilation, groups
    shapes = (
        (1, 3, 32, 224, 3, 2, 1, 1, 1),
        (1, 32, 32, 112, 3, 1, 1, 1, 32),
        (1, 32, 16, 112, 1, 1, 0, 1, 1),
        (1, 96, 96, 112, 3, 2, 1, 1, 96),
        (1, 144, 24, 56, 1, 1, 0, 1, 1),
        (1, 960, 320, 7, 1, 1, 0, 1, 1),
        (1, 960, 960, 7, 3, 1, 1, 1, 960),
        (1, 3, 64, 224, 7, 2, 3, 1, 1),
        (1, 64, 64, 56, 3, 1, 1, 1, 1),
        (1, 64, 128, 56, 1, 2, 0, 1, 1),
        (1, 128, 128, 28, 3, 1, 1, 1, 1),
        (1, 256, 512, 14, 3, 2, 1, 1, 1),
        (1, 512, 512, 7, 3, 1, 1, 1, 1),
        (1, 3, 192, 224, 16, 16, 0, 1, 1),
        (2, 64, 64, 28, 3, 1, 2, 2, 8),
    )
    for n, ic, oc, size, kernel, stride, pad, dilation, groups in shapes:
        x = torch.randn(n, ic, size, size)
        w = torch.randn(oc, ic // groups, kernel, kernel)
        rest = ([stride] * 2, [pad] * 2, [dilation] * 2, False, [0, 0], groups)
        label = f"{ic}>{oc} {size} k{kernel} s{stride} g{groups}"
        yield Case("convolution.out", label, (x, w, torch.randn(oc), *rest))
        last = {"memory_format": torch.channels_last}
        yield Case("convolution.out", label + " last", (x.to(**last), w.to(**last), None, *rest))
    x, w = torch.randn(1, 64, 1000), torch.randn(128, 64, 5)
    yield Case("convolution.out", "1-D 64>128 1000 k5", (x, w, None, [1], [2], [1], False, [0], 1))
    x, w = torch.randn(1, 64, 28, 28), torch.randn(64, 32, 2, 2)
    yield Case(
        "convolution.out", "transposed", (x, w, None, [2, 2], [0, 0], [1, 1], True, [0, 0], 1)
    )


_UNARY = (
    "abs ceil cos erf exp expm1 floor log1p neg reciprocal relu round rsqrt sigmoid sign sin sqrt tanh "
    "trunc log atan asinh log2 sinh logical_not isnan"
).split()


def _elementwise_cases() -> Iterator[Case]:
    for size in (16384, 1 << 20):
        x, y = torch.rand(size) + 0.1, torch.rand(size) + 0.1
        label = f"{size}"
        for name in _UNARY:
            yield Case(f"{name}.out", label, (x,))
        yield Case("gelu.out", label, (x,))
        yield Case("gelu.out", label + " tanh", (x,), {"approximate": "tanh"})
        yield Case("hardtanh.out", label, (x, 0.0, 6.0))
        yield Case("clamp.out", label, (x, 0.0, None))
        yield Case("leaky_relu.out", label, (x, 0.1))
        yield Case("elu.out", label, (x,))
        for exponent in (2, 3, 0.5, -0.5, 2.5):
            yield Case("pow.Tensor_Scalar_out", f"{label} {exponent}", (x, exponent))
        for name in (
            "add",
            "sub",
            "mul",
            "div",
            "maximum",
            "minimum",
            "atan2",
            "fmod",
            "remainder",
        ):
            overload = "Tensor_out" if name in ("fmod", "remainder") else "out"
            yield Case(f"{name}.{overload}", label, (x, y))
        for name in ("add", "sub", "mul", "div"):
            yield Case(f"{name}.Scalar_out", label, (x, 1.5))
        for name in ("eq", "lt", "le"):
            yield Case(f"{name}.Tensor_out", label, (x, y))
            yield Case(f"{name}.Scalar_out", label, (x, 0.5))
        yield Case("where.self_out", label, (x > 0.5, x, y))
        i = torch.randint(0, 100, (size,))
        yield Case("add.out", label + " int64", (i, i))
        yield Case("eq.Scalar_out", label + " int64", (i, 5))
        h = x.to(torch.float16)
        yield Case("mul.out", label + " float16", (h, h))
        yield Case("bitwise_and.Tensor_out", label + " int64", (i, i))
    a = torch.randn(1, 12, 128, 128)
    yield Case("add.out", "broadcast mask", (a, torch.randn(1, 1, 1, 128)))
    yield Case(
        "mul.out", "broadcast channels", (torch.randn(1, 64, 56, 56), torch.randn(1, 64, 1, 1))
    )
    yield Case("sub.out", "broadcast last", (torch.randn(512, 256), torch.randn(512, 1)))
    yield Case("where.self_out", "broadcast", (a > 0, a, torch.tensor(0.0)))


def _line_cases() -> Iterator[Case]:
    a, wide = torch.randn(12 * 128, 128), torch.randn(64, 4096)
    for x in (a, wide):
        label = "x".join(map(str, x.shape))
        for dim in (-1, 0):
            yield Case("_softmax.out", f"{label} dim {dim}", (x, dim, False))
            yield Case("_log_softmax.out", f"{label} dim {dim}", (x, dim, False))
            yield Case("mean.out", f"{label} dim {dim}", (x, [dim]))
            yield Case("sum.IntList_out", f"{label} dim {dim}", (x, [dim]))
            yield Case("amax.out", f"{label} dim {dim}", (x, [dim]))
            yield Case("argmax.out", f"{label} dim {dim}", (x, dim))
            yield Case("cumsum.out", f"{label} dim {dim}", (x, dim))
        yield Case("any.out", label, (x > 2, -1))
        yield Case("prod.int_out", label, (x, -1))
        yield Case("var.correction_out", label, (x, [-1]))
    planes = torch.randn(1, 320, 14, 14)
    yield Case("mean.out", "pooled planes", (planes, [-1, -2], True))
    x = torch.randn(197, 768)
    yield Case(
        "native_layer_norm.out", "197x768", (x, [768], torch.randn(768), torch.randn(768), 1e-5)
    )
    x = torch.randn(1, 64, 56, 56)
    w = torch.rand(64)
    yield Case("_native_batch_norm_legit_no_training.out", "64x56x56", (x, w, w, w, w, 0.1, 1e-5))
    yield Case("native_group_norm.out", "64x56x56", (x, w, w, 1, 64, 3136, 8, 1e-5))


def _window_cases() -> Iterator[Case]:
    x = torch.randn(1, 64, 112, 112)
    yield Case("max_pool2d_with_indices.out", "64x112x112 k3 s2", (x, [3, 3], [2, 2], [1, 1]))
    yield Case("avg_pool2d.out", "64x112x112 k3 s2", (x, [3, 3], [2, 2], [1, 1]))
    yield Case("_adaptive_avg_pool2d.out", "1x1", (x, [1, 1]))
    yield Case("_adaptive_avg_pool2d.out", "7x7", (x, [7, 7]))
    small = torch.randn(1, 64, 28, 28)
    yield Case("upsample_nearest2d.vec_out", "28>56", (small, [56, 56], None))
    yield Case("upsample_bilinear2d.vec_out", "28>56", (small, [56, 56], False, None))
    yield Case("constant_pad_nd.out", "56", (torch.randn(1, 64, 56, 56), [1, 1, 1, 1]))


def _copy_cases() -> Iterator[Case]:
    x = torch.randn(1, 128, 12, 64)
    yield Case("permute_copy.out", "heads", (x, [0, 2, 1, 3]))
    yield Case("permute_copy.out", "last two", (torch.randn(512, 1024), [1, 0]))
    yield Case("permute_copy.out", "to NHWC", (torch.randn(1, 64, 56, 56), [0, 2, 3, 1]))
    yield Case("transpose_copy.int_out", "heads", (x, 2, 3))
    yield Case("clone.out", "1M", (torch.randn(1 << 20),))
    yield Case("expand_copy.out", "rows", (torch.randn(512, 1), [512, 512]))
    yield Case("slice_copy.Tensor_out", "columns", (torch.randn(512, 512), 1, 0, 256))
    yield Case("select_copy.int_out", "middle", (torch.randn(64, 8, 512), 1, 3))
    yield Case("repeat.out", "4x4", (torch.randn(128, 128), [4, 4]))
    yield Case("flip.out", "last", (torch.randn(512, 512), [1]))
    yield Case("tril.out", "512", (torch.randn(512, 512),))
    pair = [torch.randn(256, 512), torch.randn(256, 512)]
    yield Case("cat.out", "dim 0", (pair, 0))
    yield Case("cat.out", "dim 1", (pair, 1))
    yield Case("stack.out", "dim 0", (pair, 0))
    ids = torch.randint(0, 5000, (128,))
    yield Case("embedding.out", "128 of 5000x768", (torch.randn(5000, 768), ids))
    yield Case("index_select.out", "rows", (torch.randn(5000, 256), 0, ids))
    yield Case("gather.out", "last", (torch.randn(512, 512), 1, torch.randint(0, 512, (512, 512))))
    yield Case("topk.values", "128x4096 k8", (torch.randn(128, 4096), 8))


def cases() -> list[Case]:
    torch.manual_seed(0)
    families = (
        _matmul_cases,
        _convolution_cases,
        _elementwise_cases,
        _line_cases,
        _window_cases,
        _copy_cases,
    )
    return [case for family in families for case in family()]


def _view(module: Any, tensor: torch.Tensor) -> Any:
    code = list(_DTYPE_CODES).index(tensor.dtype)
    return module.TensorView(tensor.data_ptr(), code, list(tensor.shape), list(tensor.dim_order()))


_DTYPE_CODES = (
    torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64,
    torch.complex32, torch.complex64, torch.complex128, torch.bool, torch.qint8, torch.quint8, torch.qint32,
    torch.bfloat16,
)  # fmt: skip


def _argument(module: Any, value: Any, schema_type: str) -> tuple[str, Any]:
    """An argument as (kind, value) of the kernel test module."""
    if value is None:
        return ("none", None)
    if isinstance(value, torch.Tensor):
        return ("tensor", _view(module, value))
    if isinstance(value, (list, tuple)):
        if value and isinstance(value[0], torch.Tensor):
            return ("tensors", [_view(module, item) for item in value])
        return ("floats" if "float" in schema_type else "ints", list(value))
    if isinstance(value, bool):
        return ("bool", value)
    for name, kind in _SCALAR_KINDS.items():
        if schema_type.startswith((name, f"Optional[{name}")):
            return (kind, value)
    return ("float" if isinstance(value, float) else "int", value)


def _kernel_arguments(module: Any, case: Case) -> tuple[list[tuple[str, Any]], list[torch.Tensor]]:
    """The stack of the out-variant, and the tensors it writes."""
    result = case.functional(*case.args, **case.kwargs)
    results = list(result) if isinstance(result, (tuple, list)) else [result]
    outs = [torch.full_like(r, 0) for r in results]
    stack: list[tuple[str, Any]] = []
    free = list(outs)
    for position, argument in enumerate(case.out_overload._schema.arguments):
        if argument.is_out:
            stack.append(("tensor", _view(module, free.pop(0))))
            continue
        if position < len(case.args):
            value = case.args[position]
        else:
            value = case.kwargs.get(argument.name, argument.default_value)
        stack.append(_argument(module, value, str(argument.type)))
    stack.append(stack[-1])
    for out, expected in zip(outs, results, strict=True):
        if expected.dtype.is_floating_point and expected.numel() > 0:
            out.fill_(float("nan"))
    return stack, outs


def _check(case: Case, outs: list[torch.Tensor], failed: int) -> str:
    """What is wrong with the results, or an empty text."""
    if failed:
        return f"error {failed:#x}"
    result = case.functional(*case.args, **case.kwargs)
    results = list(result) if isinstance(result, (tuple, list)) else [result]
    low = any(t.dtype in (torch.float16, torch.bfloat16) for t in outs)
    for out, expected in zip(outs, results, strict=True):
        tolerance = 3e-2 if low else 1e-3
        if not torch.allclose(
            out.double(), expected.double(), rtol=tolerance, atol=tolerance, equal_nan=True
        ):
            return "differs"
    return ""


def _eager_time(case: Case, repeats: int) -> float:
    run = case.functional
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        run(*case.args, **case.kwargs)
        best = min(best, time.perf_counter() - start)
    return best


def _measure(module: Any, case: Case) -> dict[str, Any]:
    row: dict[str, Any] = {"op": case.op, "label": case.label}
    registered = set(module.registered())
    if f"aten::{case.op}" not in registered:
        return row | {"problem": _NO_KERNEL}
    stack, outs = _kernel_arguments(module, case)
    problem = _check(case, outs, module.call(f"aten::{case.op}", stack))
    if problem:
        return row | {"problem": problem}
    once = _eager_time(case, 3)
    repeats = int(min(200, max(10, 0.05 / max(once, 1e-7))))
    rounds = []
    for _ in range(_ROUNDS):
        eager = _eager_time(case, repeats)
        time.sleep(_SETTLE_SECONDS)
        rounds.append((eager, module.best_time(f"aten::{case.op}", stack, repeats)))
        time.sleep(_SETTLE_SECONDS)
        if rounds[-1][1] < _SURPRISING * rounds[-1][0]:
            break
    eager, ours = (min(side) for side in zip(*rounds))
    return row | {"eager": eager, "ours": ours}


def _worker(threads: int, wanted: str) -> None:
    """Measures in this process and prints one line of JSON a case."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    torch.set_num_threads(threads)
    from executorch.kernels.test import _optimized_kernels as module

    with torch.no_grad():
        for case in cases():
            if wanted in f"{case.op} {case.label}":
                print(json.dumps(_measure(module, case)), flush=True)


def _run(threads: int, wanted: str, limit: float) -> int:
    """Prints the rows of a worker as they come; the number of those above the limit or wrong."""
    module = "executorch.tools.bench.ops"
    command = [sys.executable, "-m", module, "--worker", str(threads), "--only", wanted]
    plural = "s" if threads > 1 else ""
    print(f"\n{threads} thread{plural}: microseconds of eager, of ours, ours / eager", flush=True)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout
        bad = sum(_print_row(json.loads(line), limit) for line in worker.stdout if line[0] == "{")
    if worker.returncode != 0:
        sys.exit(f"the worker ended with {worker.returncode} after the last row above")
    return bad


def _print_row(row: dict[str, Any], limit: float) -> bool:
    name = f"{row['op']:42}{row['label']:28}"
    if "problem" in row:
        print(f"{name}{row['problem']:>10}", flush=True)
        return row["problem"] != _NO_KERNEL
    ratio = row["ours"] / row["eager"]
    mark = "  <<<" if ratio > limit else ""
    print(
        f"{name}{row['eager'] * 1e6:10.1f}{row['ours'] * 1e6:10.1f}{ratio:8.2f}{mark}", flush=True
    )
    return ratio > limit


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", default="", help="only rows whose name contains this, for example convolution"
    )
    parser.add_argument(
        "--limit", type=float, default=3.0, help="largest accepted ratio (default 3)"
    )
    parser.add_argument(
        "--threads", type=int, nargs="*", help="thread counts (default: 1 and all processors)"
    )
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        _worker(options.worker, options.only)
        return 0
    available = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    counts = options.threads or sorted({1, available})
    bad = sum(_run(n, options.only, options.limit) for n in counts)
    print(f"\n{bad} rows above {options.limit} times eager or wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
