# SPDX-License-Identifier: BSD-3-Clause
"""Which operations of a model in halves stay in float32: a chain for each kind, and numbers on both sides of what ends
it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

ct = pytest.importorskip("coremltools")

from executorch.backends.apple.coreml.aot.halves import WideOperations, precision  # noqa: E402
from executorch.backends.apple.coreml.aot.library import quiet  # noqa: E402

mb = ct.converters.mil.Builder
SIZES = (2, 3, 4)


def wide(build: Callable[[Any], Any]) -> list[str]:
    """Operations that stay in float32, in their order."""

    @mb.program(input_specs=[mb.TensorSpec(shape=SIZES)])
    def model(x: Any) -> Any:
        return build(x)

    asked = WideOperations()
    (main,) = model.functions.values()
    return [op.op_type for op in main.operations if op.op_type != "const" and asked.is_wide(op)]


def mean(x: Any) -> Any:
    return mb.reduce_mean(x=x, axes=[-1], keep_dims=True)


def square(x: Any) -> Any:
    return mb.mul(x=x, y=x)


ROWS: dict[str, tuple[Callable[[Any], Any], str]] = {
    # What grows, on its way to a mean.
    "square": (lambda x: mean(mb.square(x=x)), "square reduce_mean"),
    "exp": (lambda x: mean(mb.exp(x=x)), "exp reduce_mean"),
    "exp2": (lambda x: mean(mb.exp2(x=x)), "exp2 reduce_mean"),
    "pow": (lambda x: mean(mb.pow(x=x, y=3.0)), "pow reduce_mean"),
    "product with itself": (lambda x: mean(square(x)), "mul reduce_mean"),
    "product of two": (lambda x: mean(mb.mul(x=x, y=mb.tanh(x=x))), ""),
    "square that nothing brings back": (lambda x: mb.tanh(x=square(x)), ""),
    # What it is brought back by, and what reads that is in halves.
    "largest": (lambda x: mb.reduce_max(x=square(x)), "mul reduce_max"),
    "least": (lambda x: mb.reduce_min(x=square(x)), "mul reduce_min"),
    "sum": (lambda x: mb.log(x=mb.reduce_sum(x=square(x))), "mul reduce_sum log"),
    "root": (lambda x: mb.tanh(x=mb.sqrt(x=square(x))), "mul sqrt"),
    "one over the root": (lambda x: mb.tanh(x=mb.rsqrt(x=mean(square(x)))), "mul reduce_mean rsqrt"),
    "one over": (lambda x: mb.tanh(x=mb.inverse(x=mean(square(x)))), "mul reduce_mean inverse"),
    "added": (lambda x: mb.rsqrt(x=mb.add(x=mean(square(x)), y=1.0)), "mul reduce_mean add rsqrt"),
    "taken off": (lambda x: mb.rsqrt(x=mb.sub(x=mean(square(x)), y=1.0)), "mul reduce_mean sub rsqrt"),
    "a square and a number": (lambda x: mb.rsqrt(x=mb.add(x=square(x), y=1.0)), "mul add rsqrt"),
    "a square off a number": (lambda x: mb.rsqrt(x=mb.sub(x=9.0, y=square(x))), "mul sub rsqrt"),
    "the logarithm of a square": (lambda x: mb.tanh(x=mb.log(x=square(x))), "mul log"),
    "behind the logarithm": (lambda x: mb.add(x=mb.log(x=mean(square(x))), y=1.0), "mul reduce_mean log"),
    "times what is narrow": (
        lambda x: mb.add(x=mb.mul(x=mb.tanh(x=x), y=mb.rsqrt(x=mean(square(x)))), y=1.0), "mul reduce_mean rsqrt mul"),
    "over what is narrow": (
        lambda x: mb.add(x=mb.real_div(x=mean(square(x)), y=mb.tanh(x=x)), y=1.0), "mul reduce_mean real_div"),
    # Sums that are divided; of an input only what halves would change first.
    "a sum over a number": (lambda x: mb.real_div(x=mb.reduce_sum(x=x), y=9.0), "reduce_sum real_div"),
    "a sum times a number": (lambda x: mb.mul(x=mb.reduce_sum(x=x), y=0.1), "reduce_sum mul"),
    "a sum": (lambda x: mb.tanh(x=mb.reduce_sum(x=x)), ""),
    "a product that is divided": (
        lambda x: mb.real_div(x=mb.mul(x=x, y=mb.tanh(x=x)), y=mb.exp(x=x)), "mul real_div"),
    "a product that divides": (lambda x: mb.real_div(x=mb.tanh(x=x), y=mb.mul(x=x, y=mb.tanh(x=x))), ""),
    "the root of an input": (lambda x: mb.tanh(x=mb.sqrt(x=x)), "sqrt"),
    "one over an input": (lambda x: mb.tanh(x=mb.inverse(x=x)), "inverse"),
    "the logarithm of an input": (lambda x: mb.tanh(x=mb.log(x=x)), "log"),
    "the root of what is narrow": (lambda x: mb.sqrt(x=mb.tanh(x=x)), ""),
    # Exponents from 0 to 1 are roots.
    **{f"to the power of {y}": (lambda x, y=y: mean(mb.pow(x=mb.tanh(x=x), y=y)), found) for y, found in (
        (0.0, ""), (0.5, ""), (1.0, ""), (1.01, "pow reduce_mean"), (-0.01, "pow reduce_mean"),
        (np.float32([0, 1, 0.5, 1]), ""), (np.float32([0, 1, 0.5, 2]), "pow reduce_mean"))},
    "to a power that is computed": (lambda x: mean(mb.pow(x=mb.tanh(x=x), y=mb.tanh(x=x))), "pow reduce_mean"),
    # Factors that halves have as 0: of 2**-24 the half is a tie, whose even side is 0.
    **{f"times {y}": (lambda x, y=y: mb.tanh(x=mb.mul(x=mb.tanh(x=x), y=np.float32(y))), found) for y, found in (
        (2.0**-25, "mul"), (-(2.0**-25), "mul"), (1.001 * 2.0**-25, ""), (0.0, ""), ([1e-9], "mul"), ([1e-9] * 4, ""))},
    "over 2**-25": (lambda x: mb.tanh(x=mb.real_div(x=mb.tanh(x=x), y=2.0**-25)), "real_div"),
}  # fmt: skip
# What changes sizes goes on with what it is given, behind a square and behind its mean.
SHAPES: dict[str, Callable[[Any], Any]] = {
    "reshape": lambda x: mb.reshape(x=x, shape=[2, -1]),
    "expand_dims": lambda x: mb.expand_dims(x=x, axes=[0]),
    "squeeze": lambda x: mb.squeeze(x=mb.expand_dims(x=x, axes=[0]), axes=[0]),
    "transpose": lambda x: mb.transpose(x=x, perm=[2, 1, 0]),
    "tile": lambda x: mb.tile(x=x, reps=[1, 2, 1]),
    "slice_by_index": lambda x: mb.slice_by_index(x=x, begin=[0, 0, 0], end=[1, 3, 1]),
    "identity": lambda x: mb.identity(x=x),
}
LIMITS: dict[str, Callable[[Any], Any]] = {
    "maximum": lambda x: mb.maximum(x=x, y=1.0),
    "minimum": lambda x: mb.minimum(x=x, y=1.0),
    "clip": lambda x: mb.clip(x=x, alpha=0.5, beta=1.0),
    "abs": lambda x: mb.abs(x=x),
    "relu": lambda x: mb.relu(x=x),
    "select": lambda x: mb.select(cond=True, a=x, b=mb.add(x=x, y=1.0)),
}


@pytest.mark.parametrize("name", ROWS)
def test_operations_that_stay_in_floats(name: str) -> None:
    build, expected = ROWS[name]
    with quiet():
        assert " ".join(wide(build)) == expected


def test_what_goes_on_with_what_it_is_given() -> None:
    with quiet():
        for name, build in SHAPES.items():
            found = wide(lambda x, build=build: mean(build(square(x))))
            assert found[0] == "mul" and found[-2:] == [name, "reduce_mean"], name
        for name, build in (SHAPES | LIMITS).items():
            found = wide(lambda x, build=build: mb.tanh(x=mb.rsqrt(x=build(mean(square(x))))))
            assert found[-2:] == [name, "rsqrt"], name


def test_what_coremltools_is_told() -> None:
    asked = ct.precision.FLOAT32
    assert precision(asked) is asked
    assert isinstance(precision(ct.precision.FLOAT16), ct.transform.FP16ComputePrecision)
