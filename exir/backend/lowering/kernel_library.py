# SPDX-License-Identifier: BSD-3-Clause
"""`KernelLibrary`: the operators of a backend that is kernels, defined for PyTorch from the table that its C++
kernels are registered from."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import yaml

_OUT = re.compile(r"Tensor\(\w!\) \w+")


class KernelLibrary:
    """Each row of `table` (functions.yaml) is an out variant, such as `mine::add.out(Tensor x, *, Tensor(a!) out)`:
    it is defined, and so is `mine::add(Tensor x)`, which edge programs call. `implement` says what both compute, by
    torch's operators; that also gives sizes and dtypes when a program is traced."""

    def __init__(self, namespace: str, table: Path) -> None:
        self.namespace = namespace
        self._library = torch.library.Library(namespace, "FRAGMENT")
        self._outs: dict[
            str, list[str]
        ] = {}  # the functional form -> names of the arguments that it has no more
        self._variants: dict[str, str] = {}
        for row in yaml.safe_load(table.read_text()):
            self._define(row["func"].removeprefix(f"{namespace}::"))

    def names(self) -> list[str]:
        """Of the functional forms, such as `add` or `add.per_channel`."""
        return list(self._outs)

    def implement(self, *names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """For all operators of these names, which take the same arguments."""

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            for name in names:
                write = _writer(function, self._outs[name])
                self._library.impl(name, function, "CompositeExplicitAutograd")
                self._library.impl(self._variants[name], write, "CompositeExplicitAutograd")
            return function

        return register

    def _define(self, out_variant: str) -> None:
        name, _, arguments = out_variant.partition("(")
        inputs, _, rest = arguments.partition("*, ")
        outs = _OUT.findall(rest.partition(") ->")[0] + ")")
        if not outs or not re.search(r"\bout$|_out$", name):
            raise ValueError(
                f"{self.namespace}::{out_variant}: expected an out variant: a name such as add.out, and its results as "
                "`*, Tensor(a!) out`"
            )
        base, _, overload = name.partition(".")
        overload = re.sub(r"_?out$", "", overload)
        functional = f"{base}.{overload}" if overload else base
        result = "Tensor" if len(outs) == 1 else f"({', '.join(['Tensor'] * len(outs))})"
        self._library.define(f"{functional}({inputs.rstrip(', ')}) -> {result}")
        self._library.define(out_variant)
        self._outs[functional] = [each.rpartition(" ")[2] for each in outs]
        self._variants[functional] = name


def _writer(function: Callable[..., Any], outs: list[str]) -> Callable[..., Any]:
    """The out variant, whose results have these names."""

    def write(*args: Any, **kwargs: Any) -> Any:
        given = [kwargs.pop(each) for each in outs]
        made = function(*args, **kwargs)
        for out, result in zip(given, (made,) if len(outs) == 1 else made, strict=True):
            out.resize_(result.shape).copy_(result)
        return given[0] if len(given) == 1 else tuple(given)

    return write
