# SPDX-License-Identifier: BSD-3-Clause
"""What the entry points are given, refused where it is something else: expected, found, and where it belongs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from torch.fx.passes.infra.pass_manager import PassManager as FxPassManager

from executorch.exir.capture._config import EdgeCompileConfig, ExecutorchBackendConfig
from executorch.exir.error import ExportError, ExportErrorType

_BELONGS = {
    EdgeCompileConfig: "it goes to to_edge(..., compile_config=) or to_edge_transform_and_lower(..., compile_config=)",
    ExecutorchBackendConfig: "it goes to to_executorch(config)",
}


def checked_config(config: Any, expected: type, argument: str) -> Any:
    """The config, or a default one for None."""
    if config is None:
        return expected()
    if isinstance(config, expected):
        return config
    hint = _BELONGS.get(type(config), f"construct one: {expected.__name__}(...)")
    raise ExportError(
        ExportErrorType.INVALID_INPUT_TYPE,
        f"{argument}: expected an {expected.__name__}, found {_kind(config)}; {hint}",
    )


def _kind(value: Any) -> str:
    name = type(value).__name__
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"


def check_constant_methods(constant_methods: Any) -> None:
    if isinstance(constant_methods, EdgeCompileConfig):
        raise AssertionError(
            "constant_methods is an EdgeCompileConfig; give it as compile_config=, and constant_methods as a dict"
        )
    if constant_methods is not None and not isinstance(constant_methods, Mapping):
        raise ExportError(
            ExportErrorType.INVALID_INPUT_TYPE,
            "constant_methods: expected a dict from method name to the value it returns, found "
            f"{_kind(constant_methods)}",
        )


def check_passes(passes: Any) -> None:
    """A pass manager, a dict by method, or passes in a row."""
    if isinstance(passes, FxPassManager):
        return
    if callable(passes) and not isinstance(passes, Iterable):
        raise ExportError(
            ExportErrorType.INVALID_INPUT_TYPE,
            f"expected a list of passes, found one pass ({passes}); write [...] around it",
        )
    if not isinstance(passes, Iterable):
        raise ExportError(
            ExportErrorType.INVALID_INPUT_TYPE,
            f"expected a list of passes or a dict by method, found {_kind(passes)}",
        )


def check_partitioner(one: Any) -> None:
    """Names of backends are no partitioners."""
    if isinstance(one, str):
        example = (
            "from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner"
            if "xnn" in one.lower()
            else "executorch.exir.backend.backend_api.to_backend(backend_id, program, compile_specs) lowers to a "
            "backend by its name"
        )
        raise ExportError(
            ExportErrorType.INVALID_INPUT_TYPE,
            f"expected a partitioner, such as XnnpackPartitioner(), found the name {one!r}; {example}",
        )
