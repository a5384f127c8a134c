# SPDX-License-Identifier: BSD-3-Clause
"""Which calls of a program that is computed in halves are computed in float32: squares, powers, exponentials and sums,
which halves may not hold, on their way to what brings them back, such as the root of their mean, the logarithm of their
sum, or a division.

    %s = mul(%x, %x); %m = mean(%s); %r = rsqrt(%m + eps); %y = mul(%x, %r)     all in float32, %y read in halves

Also products and divisions by a number that halves do not hold.

The rule is one for all vocabularies: a backend says which Kind a call is of (edge calls: `WideCalls`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from enum import Enum, auto
from typing import Generic, TypeVar

import torch
from torch.fx import Node

from executorch.exir.backend.lowering.steps import Step
from executorch.exir.graph_facts import op_name

Call = TypeVar("Call", bound=Hashable)


class Kind(Enum):
    POWER = auto()  # grows beyond what it reads: squares, exponentials
    SUM = auto()
    REDUCTION = auto()
    PRODUCT = auto()
    QUOTIENT = auto()
    ROOT = auto()  # and what is one over: gives what may still be large or small
    SUMMAND = auto()  # a sum or difference of two
    LOGARITHM = auto()  # gives what halves hold
    SHAPE = auto()
    LIMIT = auto()


_FACTORS = frozenset({Kind.PRODUCT, Kind.QUOTIENT})
# What makes a power worth keeping.
_RETURNS = frozenset(
    {Kind.SUM, Kind.REDUCTION, Kind.ROOT, Kind.SUMMAND, Kind.LOGARITHM, Kind.SHAPE}
)
# What of an input, which is of float32, is taken before it is rounded.
_OF_INPUTS = frozenset({Kind.ROOT, Kind.LOGARITHM})


class WideValues(ABC, Generic[Call]):
    """Asked of each call of one program."""

    def __init__(self) -> None:
        self._known: dict[Call, bool] = {}

    @abstractmethod
    def kind(self, call: Call) -> Kind | None:
        """None for a call that ends it, and for what is not of floats."""

    @abstractmethod
    def operands(self, call: Call) -> Sequence[Call | None]:
        """The calls that give what it reads, None for an input; constants are left out."""

    @abstractmethod
    def is_square(self, call: Call) -> bool:
        """Of a product, whether both factors are one value."""

    @abstractmethod
    def has_factor_beyond(self, call: Call) -> bool:
        """Of a product or quotient, whether a constant of it is infinite or 0 in halves."""

    @abstractmethod
    def numerator(self, call: Call) -> Call | None:
        """The call that gives what a quotient divides."""

    @abstractmethod
    def readers(self, call: Call) -> Iterable[Call | None]:
        """None for the program's results, where they are of float32."""

    def is_wide(self, call: Call) -> bool:
        if call not in self._known:
            self._known[call] = False  # while it is found out
            self._known[call] = self._grows(call) or self._is_averaged(call) or self._follows(call)
        return self._known[call]

    def _grows(self, call: Call) -> bool:
        kind = self.kind(call)
        if kind is not Kind.POWER and not (kind is Kind.PRODUCT and self.is_square(call)):
            return False
        return self._returns(call)

    def _returns(self, call: Call) -> bool:
        """Whether a reader brings it back, also behind products of it and constants."""
        return any(
            each is None
            or self.kind(each) in _RETURNS
            or (
                self._is_factor(each) and set(self.operands(each)) == {call} and self._returns(each)
            )
            for each in self.readers(call)
        )

    def _is_averaged(self, call: Call) -> bool:
        """A sum that is divided, or a product that is; and that division."""
        kind = self.kind(call)
        if kind is Kind.SUM:
            return any(self._is_factor(each) for each in self.readers(call))
        if kind is Kind.PRODUCT:
            return any(
                self._is_factor(each, Kind.QUOTIENT) and self.numerator(each) is call
                for each in self.readers(call)
            )
        return False

    def _is_factor(self, call: Call | None, *kinds: Kind) -> bool:
        return call is not None and self.kind(call) in (kinds or _FACTORS)

    def _follows(self, call: Call) -> bool:
        kind, operands = self.kind(call), self.operands(call)
        if kind is None:
            return False
        if self._is_factor(call) and self.has_factor_beyond(call):
            return True
        before = [each for each in operands if each is not None]
        if kind in _OF_INPUTS and len(before) < len(operands):
            return True
        is_division = self._is_factor(call) and any(map(self._is_averaged, before))
        return is_division or any(map(self._carries, before))

    def _carries(self, call: Call | None) -> bool:
        """Whether what reads it is wide for that: a product with what is narrow ends it."""
        if call is None or not self.is_wide(call) or self.kind(call) is Kind.LOGARITHM:
            return False
        if self._grows(call):
            return True
        carried = [self._carries(each) for each in self.operands(call)]
        return all(carried) if self._is_factor(call) else any(carried)


_KINDS = {
    Kind.POWER: "exp.default pow.Tensor_Scalar pow.Tensor_Tensor",
    Kind.SUM: "sum.dim_IntList",
    Kind.REDUCTION: "mean.dim amax.default amin.default",
    Kind.PRODUCT: "mul.Tensor mul.Scalar",
    Kind.QUOTIENT: "div.Tensor div.Scalar",
    Kind.ROOT: "sqrt.default rsqrt.default reciprocal.default",
    Kind.SUMMAND: "neg.default add.Tensor add.Scalar sub.Tensor sub.Scalar",
    Kind.LOGARITHM: "log.default log2.default log10.default log1p.default",
    Kind.SHAPE: "view_copy.default unsqueeze_copy.default squeeze_copy.dims expand_copy.default permute_copy.default "
    "select_copy.int slice_copy.Tensor",
    Kind.LIMIT: "clamp.default hardtanh.default maximum.default minimum.default where.self abs.default relu.default",
}  # fmt: skip
_KIND_OF = {f"aten.{name}": kind for kind, names in _KINDS.items() for name in names.split()}


class WideCalls(WideValues[Node]):
    """Of the edge dialect, float32 in the program. `calls`: that are asked about; `constants`: what is known ahead."""

    def __init__(self, calls: Collection[Node], constants: Mapping[Node, torch.Tensor]) -> None:
        super().__init__()
        self._calls, self._constants = frozenset(calls), constants

    def kind(self, call: Node) -> Kind | None:
        value = call.meta.get("val")
        is_float = isinstance(value, torch.Tensor) and value.dtype == torch.float32
        found = _KIND_OF.get(op_name(call)) if is_float and call in self._calls else None
        is_power = found is Kind.POWER and op_name(call) == "aten.pow.Tensor_Scalar"
        return Kind.ROOT if is_power and 0 <= call.args[1] <= 1 else found

    def operands(self, call: Node) -> Sequence[Node | None]:
        read = [each for each in call.all_input_nodes if each not in self._constants]
        return [None if each.op == "placeholder" else each for each in read]

    def is_square(self, call: Node) -> bool:
        return call.args[0] is call.args[1]

    def has_factor_beyond(self, call: Node) -> bool:
        data = [self._constants[each] for each in call.all_input_nodes if each in self._constants]
        numbers = [torch.tensor(float(each)) for each in call.args if isinstance(each, int | float)]
        return any(map(_is_beyond_halves, (*data, *numbers)))

    def numerator(self, call: Node) -> Node | None:
        return call.args[0]

    def readers(self, call: Node) -> Iterable[Node | None]:
        return [None if each.op == "output" else each for each in call.users]


def _is_beyond_halves(factor: torch.Tensor) -> bool:
    """An element of many that becomes 0 is none."""
    finite = factor[factor.isfinite()].detach().abs()
    largest = float(finite.max()) if finite.numel() else 0.0
    half = torch.finfo(torch.float16)
    # Half the least that there is: a tie, whose even side is 0.
    is_tiny = factor.numel() == 1 and 0 < largest <= half.smallest_normal * half.eps / 2
    return is_tiny or largest > half.max


def wide_calls(steps: Iterable[Step], constants: Mapping[Node, torch.Tensor]) -> set[Node]:
    """Those of steps that are one call, and inputs that they alone read."""
    calls = [step.head for step in steps if step.pattern is None and step.head is step.result]
    asked = WideCalls(calls, constants)
    wide = {call for call in calls if asked.is_wide(call)}
    read = {each for call in wide for each in call.all_input_nodes if each.op == "placeholder"}
    return wide | {each for each in read if each not in constants and wide.issuperset(each.users)}
