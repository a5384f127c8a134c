# SPDX-License-Identifier: BSD-3-Clause
"""The hook of the conformance suite: what a backend says of itself, and where backends are found."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

from executorch.backends import discovery
from executorch.backends.test.corpus.row import Row
from executorch.exir import EdgeCompileConfig
from executorch.exir.backend.lowering.kernels.library import KernelLibrary
from executorch.exir.backend.partitioner import Partitioner
from executorch.extension.pybindings import libraries

Sample = tuple[torch.nn.Module, tuple[torch.Tensor, ...]]


class Weights(Enum):
    """Where a backend has the constants that its delegates read."""

    IN_PLACE = "the bytes of the file are read"
    PACKED = "there is one copy in a layout of the backend, and the file's bytes are given back"
    WIDENED = "there is one such copy, of half precision in float32"
    BOTH = "there is such a copy, and the bytes of the file stay in use"
    INPUTS = "delegates own no constants: they are inputs"


class AddedWeight(torch.nn.Module):
    def __init__(self, num_bytes: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(num_bytes // 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.weight


def added_weight(num_bytes: int) -> Sample:
    return AddedWeight(num_bytes), (torch.randn(num_bytes // 4),)


# Loads a delegate in Python: (payload, named data by key) -> (inputs -> results), called for each run.
Run = Callable[[list[torch.Tensor]], Sequence[torch.Tensor]]
Reference = Callable[[bytes, Mapping[str, bytes]], Run]


class Unknown(NotImplementedError):
    """An operation of a payload, or a way of one, that a reference does not have."""


@dataclass(frozen=True)
class Backend:
    """`library`: the path of the shared library with the runtime half (of a backend in this package, its name in the
    build); empty for what is part of the Python runtime. `named_data`: constants are named data, which delegates share;
    `joins_methods`: only those of delegates of several methods.
    `refuses_options`: compile specs that it does not know are an error. `dynamic_shapes`: sizes may be dynamic inside a
    delegate. `with_weights`: a model that is delegated as a whole, with so many bytes of weights.

    `wide_integers`: those of 64 bits are computed in 64. `precision`: the dtype of the floats that it takes;
    `floats_inside`: that its delegates compute in.
    `quantize`: makes the quantizer of one that takes 8 bits only; what it does not annotate stays undelegated.
    `reference`: runs payloads where there is no runtime half: a library's interpreter, a simulator, a few lines of
    Python; `by_memory`: it takes and gives tensors with their dimensions in the order of memory, as a payload has them
    that knows of no other; `converts`: the runtime half makes the program's dtypes of those that payloads give, and
    tensors without dimensions. `runtime`: whether the runtime half is here. `name`: of an entry beside another of the
    same id. `why_missing`: what is not installed of another maker's compiler; else empty. `leave`: takes away
    what `partitioner` put in the place of a vendor's modules."""

    id: str
    partitioner: Callable[[], Partitioner]
    library: str = ""
    weights: Weights = Weights.IN_PLACE
    named_data: bool = True
    joins_methods: bool = False
    refuses_options: bool = True
    dynamic_shapes: bool = True
    wide_integers: bool = True
    with_weights: Callable[[int], Sample] = added_weight
    precision: torch.dtype = torch.float32
    floats_inside: torch.dtype = torch.float32
    quantize: Callable[[], Any] | None = None
    reference: Reference | None = None
    by_memory: bool = False
    converts: bool = False
    runtime: bool = True
    name: str = ""
    why_missing: Callable[[], str] = str
    leave: Callable[[], object] = bool

    def load_runtime(self) -> None:
        """Registers the runtime half; again without effect."""
        if self.library:
            libraries.load(self.library)

    def sample(self, num_bytes: int) -> Sample:
        """`with_weights` in the backend's precision, with so many bytes of weights in it, or of 8-bit ones."""
        itemsize = 1 if self.quantize else self.precision.itemsize
        model, inputs = self.with_weights(num_bytes * 4 // itemsize)
        return model.to(self.precision), self.floats(inputs)

    def floats(self, inputs: Any) -> Any:
        """`inputs` with its float32 tensors in the backend's precision."""

        def cast(value: torch.Tensor) -> torch.Tensor:
            return value.to(self.precision) if value.dtype == torch.float32 else value

        return pytree.tree_map_only(torch.Tensor, cast, inputs)

    def prepared(
        self, module: torch.nn.Module, inputs: tuple[Any, ...], **export: Any
    ) -> torch.nn.Module:
        """As it is exported: in the backend's precision, and quantized where it takes nothing else."""
        module = module.to(self.precision)
        if self.quantize is None:
            return module
        from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

        captured = torch.export.export(module, inputs, **export).module()
        observed = prepare_pt2e(captured, self.quantize())
        observed(*inputs)
        return convert_pt2e(observed)


@dataclass(frozen=True, eq=False)
class KernelBackend:
    """The hook of a backend that is kernels: `name` is its manifest's, which says its passes. `operators`: its library
    for PyTorch. `samples`: by each operator's name, arguments of one call. `rows`: that become its operators where the
    corpus has none, one for each operator at least. `library`: in the build, of the kernels; its name unless given.

    `tolerance`: by which kernels may differ from the operators in PyTorch, 0 for the same bits. `step`: by which an
    operator of whole numbers may differ from the calls that it stands for, which round floats. `runtime`: whether the
    kernels are here. `by_name`: operators that no row becomes, because programs call them by name."""

    name: str
    operators: KernelLibrary
    samples: Mapping[str, tuple[Any, ...]]
    rows: Sequence[Row] = ()
    library: str = ""
    tolerance: float = 0.0
    step: int = 1
    runtime: bool = True
    by_name: Collection[str] = ()

    @property
    def id(self) -> str:
        return self.name

    @property
    def namespace(self) -> str:
        return self.operators.namespace

    def passes(self, method: str, program: ExportedProgram) -> list[Any]:
        manifest = discovery.all_backends()[self.name]
        return manifest.load(manifest.passes)(method, program)

    def edge_config(self) -> EdgeCompileConfig | None:
        manifest = discovery.all_backends()[self.name]
        return manifest.load(manifest.edge_config)() if manifest.edge_config else None


def all_backends() -> dict[str, Backend]:
    """By name, of all folders of backends that have a hook."""
    return {each.name or each.id: each for each in _hooks("BACKENDS")}


def all_kernel_backends() -> dict[str, KernelBackend]:
    return {each.name: each for each in _hooks("KERNELS")}


def _hooks(name: str) -> Iterator[Any]:
    """What the hooks of all folders say under that name."""
    for module in discovery.modules("test.conformance"):
        yield from getattr(discovery.imported(module), name, ())
