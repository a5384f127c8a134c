# SPDX-License-Identifier: BSD-3-Clause
"""torch._inductor's compiler as it is called here: an edge program becomes files, in a folder that is taken away."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from executorch.exir.dialects.edge._ops import EdgeOpOverload
from executorch.exir.dim_order_utils import get_memory_format
from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.graph_facts import torch_op
from executorch.exir.retrace.builder import TO_DIM_ORDER

# Of every device: a library that calls the small C interface alone, and constants in a file beside it.
OPTIONS: Mapping[str, Any] = {
    "loop_ordering_after_fusion": False,
    "emulate_precision_casts": True,
    "aot_inductor.embed_kernel_binary": True,
    "aot_inductor.link_libtorch": False,
    "aot_inductor.package": True,
    "aot_inductor.package_constants_in_so": False,
    "aot_inductor.package_constants_on_disk_format": "binary_blob",
}
_FROM_DIM_ORDER = {new: old for old, new in TO_DIM_ORDER.items()}
_LIBRARY, _CONSTANTS = ".wrapper.so", ".wrapper_weights.blob"


def compile_program(
    program: ExportedProgram,
    decompositions: Mapping[Any, Callable[..., Any]],
    options: Mapping[str, Any],
    folder: str,
) -> list[str]:
    """The files that inductor wrote, in `folder`."""
    if decompositions:
        program = program.run_decompositions(dict(decompositions))
    module = program.module(check_guards=False)
    _call_torch(module)
    made = torch._inductor.aot_compile(
        module, example_inputs(program), options={**options, "aot_inductor.output_path": folder}
    )
    return [each for each in made if isinstance(each, str)] if isinstance(made, list) else [made]


def example_inputs(program: ExportedProgram) -> tuple[torch.Tensor, ...]:
    """ExportError for a number: the runtime half gives and takes tensors."""
    names = set(program.graph_signature.user_inputs)
    nodes = [node for node in program.graph.find_nodes(op="placeholder") if node.name in names]
    for node in nodes:
        if not isinstance(node.meta["val"], torch.Tensor):
            raise ExportError(
                ExportErrorType.NOT_SUPPORTED,
                f"a delegate of AOTInductor would take {node.name}, a number, from calls that are left outside: export "
                "with static sizes, or leave AOTInductor's partitioner out",
            )
    return tuple(node.meta["val"] for node in nodes)


def _call_torch(module: GraphModule) -> None:
    """Calls of the edge dialect become those of PyTorch's operators, which the compiler knows."""
    for part in module.modules():
        if isinstance(part, GraphModule):
            for node in part.graph.nodes:
                if isinstance(node.target, EdgeOpOverload):
                    _call_torch_op(node)
            part.recompile()


def _call_torch_op(node: Node) -> None:
    """What names a dim order names a memory format again."""
    node.target = torch_op(node.target)
    original = _FROM_DIM_ORDER.get(node.target)
    if original is not None:
        node.target, names = original, {each.name for each in original._schema.arguments}
        kept = {key: value for key, value in node.kwargs.items() if key in names}
        order = node.kwargs.get("dim_order")
        node.kwargs = {**kept, "memory_format": get_memory_format(order)}


def library_and_constants(files: list[str]) -> tuple[str, str]:
    """RuntimeError where one is not among them."""
    found = [[each for each in files if each.endswith(end)] for end in (_LIBRARY, _CONSTANTS)]
    if not all(len(each) == 1 for each in found):
        raise RuntimeError(
            f"Could not find required files: expected one {_LIBRARY} and one {_CONSTANTS}, found {files}"
        )
    return found[0][0], found[1][0]


def taken(path: str) -> bytes:
    """What is in a file, which is then deleted."""
    data = Path(path).read_bytes()
    Path(path).unlink()
    return data


@contextlib.contextmanager
def scratch_folder() -> Iterator[str]:
    """What inductor writes of a program goes there, and is gone behind it. What it found out of the machine stays in
    its own cache."""
    with tempfile.TemporaryDirectory(prefix="aoti_") as folder:
        yield folder


def _kernel_name(op: Any) -> str:
    """As AOTInductor's lists of them are written: at::_ops::sort_stable::call, metal::gather_qmv."""
    if not isinstance(op, torch._ops.OpOverload):
        return str(op)
    form = "" if op._overloadname == "default" else f"_{op._overloadname}"
    name = op._schema.name
    return f"at::_ops::{name[6:]}{form}::call" if name.startswith("aten::") else name


@contextlib.contextmanager
def collect_external_kernels(missing: set[str], known: Collection[str]) -> Iterator[None]:
    """Adds the external kernels that generated code calls and that are not in `known`."""
    from torch._inductor.codegen.cpp_wrapper_cpu import CppWrapperCpu

    call = CppWrapperCpu.generate_c_shim_extern_kernel_call
    by_proxy = CppWrapperCpu.generate_fallback_kernel_with_runtime_lookup_aot

    def note(name: str) -> None:
        if name not in known:
            missing.add(name)

    def direct(self: Any, kernel: str, args: list[str], device: str, **rest: Any) -> None:
        note(self.get_c_shim_func_name(kernel, device))
        call(self, kernel, args, device, **rest)

    def looked_up(self: Any, op_overload: Any, *args: Any, **rest: Any) -> None:
        note(_kernel_name(op_overload))
        by_proxy(self, op_overload, *args, **rest)

    with (
        patch.object(CppWrapperCpu, "generate_c_shim_extern_kernel_call", direct),
        patch.object(CppWrapperCpu, "generate_fallback_kernel_with_runtime_lookup_aot", looked_up),
    ):
        yield
