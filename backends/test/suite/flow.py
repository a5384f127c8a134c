# SPDX-License-Identifier: BSD-3-Clause
"""`TestFlow`: one way to take a model to a program: which backend, quantized or not, what to skip."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from typing import Any

from torch.export import ExportedProgram

from executorch.backends.discovery import backends
from executorch.backends.test.harness import Tester
from executorch.backends.test.harness.stages import Quantize, StageType, ToEdgeTransformAndLower
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.backend.lowering.manifest import BackendManifest
from executorch.extension.pybindings import portable_lib

logger = logging.getLogger(__name__)
_FLOWS = f"{__package__}.flows"


@dataclass
class TestFlow:
    __test__ = False  # nothing for pytest to collect

    name: str
    backend: str
    tester_factory: Callable[..., Tester]
    quantize: bool = False
    quantize_stage_factory: Callable[..., Quantize] | None = None
    is_delegated: bool = True  # whether calls are expected to be
    skip_patterns: list[str] = field(default_factory=list)
    param_skip_reasons: dict[str, dict[Any, str]] = field(default_factory=dict)
    supports_serialize: bool = True
    tolerance: float = 0.0  # what results may be apart, where a row's own is less

    def should_skip_test(
        self, test_name: str, params: dict[str, Any] | None = None
    ) -> tuple[bool, str]:
        """(whether, why); `skip_patterns` are parts of names."""
        if any(pattern in test_name for pattern in self.skip_patterns):
            return True, f"Skipped by {self.name} skip_patterns"
        for parameter, reasons in self.param_skip_reasons.items():
            value = (params or {}).get(parameter)
            if value in reasons:
                return True, reasons[value]
        return False, ""

    def __str__(self) -> str:
        return self.name


def all_flows() -> dict[str, TestFlow]:
    """name -> flow: the portable kernels', then those of every backend whose packages are installed."""
    found = [*import_module(f"{_FLOWS}.portable").FLOWS]
    for backend in backends().values():
        try:
            found.extend(flows_of(backend))
        except ImportError as error:
            logger.info("no flows of %s: %s", backend.name, error)
    return {flow.name: flow for flow in found}


def flows_of(backend: BackendManifest) -> list[TestFlow]:
    """Those that its folder has, else one that lowers to its partitioner, or with its passes, and one that quantizes
    first, if it has a quantizer."""
    if backend.flows:
        return backend.load(backend.flows)
    stage = partial(Lower, backend)
    classes = Tester.default_stage_classes() | {StageType.TO_EDGE_TRANSFORM_AND_LOWER: stage}
    factory = partial(Tester, stage_classes=classes)
    plain = TestFlow(backend.name, backend.name, factory, supports_serialize=is_here(backend))
    if not backend.quantizer:
        return [plain]
    quantizer = backend.load(backend.quantizer)
    name = f"{backend.name}_quantized"
    how = {"quantize": True, "quantize_stage_factory": lambda: Quantize(quantizer())}
    return [plain, replace(plain, name=name, **how)]


def is_here(backend: BackendManifest) -> bool:
    """Whether the runtime has it, or operators of it."""
    if backend.id:
        return backend.id in portable_lib._get_registered_backend_names()
    operators = portable_lib._get_operator_names()
    return any(name.startswith(f"{backend.name}::") for name in operators)


class Lower(ToEdgeTransformAndLower):
    """With what a backend's `backend.py` names."""

    def __init__(self, backend: BackendManifest) -> None:
        how = backend.lowering()
        super().__init__(
            partitioners=how.get("partitioners"), edge_compile_config=how.get("edge_compile_config")
        )
        self._passes = how.get("edge_transform_passes", [])

    def run(
        self, artifact: ExportedProgram, inputs: Any = None, generate_etrecord: bool = False
    ) -> None:
        self.edge_dialect_program = to_edge_transform_and_lower(
            artifact,
            transform_passes=[one for make in self._passes for one in make("forward", artifact)],
            partitioner=self.partitioners,
            compile_config=self.edge_compile_conf,
            generate_etrecord=generate_etrecord,
        )
