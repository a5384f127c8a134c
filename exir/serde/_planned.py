# SPDX-License-Identifier: BSD-3-Clause
"""Programs after to_executorch in PyTorch's serializer, which knows neither the functions of exir.memory nor operators
that write.

before: %a = memory.alloc(((2, 3), float32)); %y = aten.add.out(%x, %x, out=%a)
after:  %a = executorch_memory.alloc('[[2, 3], "float32"]'); %y = backend operator aten.add.out(%x, %x, out=%a)
"""

from __future__ import annotations

import copy
import functools
import json
import operator
import re
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import ExportGraphSignature
from torch.fx import GraphModule, Node
from torch.library import Library, impl

from executorch.exir import memory
from executorch.exir.dialects.backend._ops import BackendOpOverload, backend_op_of
from executorch.exir.dialects.edge._ops import edge_op_of
from executorch.exir.graph_facts import WRITE_BACK, without_dialect
from executorch.exir.program_copies import with_graph_module
from executorch.exir.serde._delegates import graph_modules

_library = Library("executorch_memory", "DEF")
_library.define("alloc(str spec) -> Tensor")
_library.define("alloc.list(str spec) -> Tensor[]")
_library.define("view(Tensor(a) base, SymInt[] size) -> Tensor(a)")
_library.define("free(Tensor spec) -> ()")


@impl(_library, "alloc", "CompositeExplicitAutograd")
@impl(_library, "alloc.list", "CompositeExplicitAutograd")
def _alloc(spec: str) -> Any:
    return memory.alloc(_spec_of(json.loads(spec)))


@impl(_library, "view", "CompositeExplicitAutograd")
def _view(base: torch.Tensor, size: list[int]) -> torch.Tensor:
    return memory.view(base, size)


@impl(_library, "free", "CompositeExplicitAutograd")
def _free(spec: torch.Tensor) -> None:
    return None


_OPS = torch.ops.executorch_memory
_FUNCTIONS = {
    _OPS.alloc.default: memory.alloc,
    _OPS.alloc.list: memory.alloc,
    _OPS.view.default: memory.view,
    _OPS.free.default: memory.free,
}
_DTYPES = {str(value).removeprefix("torch."): value for value in vars(torch).values()
           if isinstance(value, torch.dtype)}  # fmt: skip


def is_planned(program: ExportedProgram) -> bool:
    """torch.export's own programs may write, too; its serializer takes these."""
    if program.dialect in ("TRAINING", "ATEN"):
        return False
    return any(node.target is memory.alloc or _writes(node) for node in _calls(program))


def with_operators(program: ExportedProgram) -> ExportedProgram:
    """A copy that PyTorch's serializer takes. Of the outputs the user's are left: calls in the graph write buffers."""
    copied = copy.deepcopy(program.graph_module)
    program = with_graph_module(program, copied, program.graph_signature)
    for node in _calls(program):
        if node.target is memory.alloc:
            is_list = isinstance(node.args[0], list)
            node.target = edge_op_of(_OPS.alloc.list if is_list else _OPS.alloc.default)
            node.args = (json.dumps(_plain(node.args[0])),)
        elif node.target is memory.view:
            node.target = edge_op_of(_OPS.view.default)
        elif node.target is memory.free:
            node.target = edge_op_of(_OPS.free.default)
        elif _writes(node):
            gives_nothing = not node.target._schema.returns
            node.target = (
                edge_op_of(list_writer(node.target))
                if gives_nothing
                else backend_op_of(node.target)
            )
            node.kwargs = {name: _items(node, value) for name, value in node.kwargs.items()}
    signature = program.graph_signature
    outputs = list(signature.output_specs)
    if len(outputs) != len(program.graph.output_node().args[0]):
        outputs = [spec for spec in outputs if spec.kind not in WRITE_BACK]
    program._graph_signature = ExportGraphSignature(list(signature.input_specs), outputs)
    return program


def with_functions(program: ExportedProgram) -> None:
    """The way back; works in place."""
    for node in reversed(_calls(program)):
        op = without_dialect(node.target)
        if op in _FUNCTIONS:
            node.target = _FUNCTIONS[op]
            if node.target is memory.alloc:
                node.args = (_spec_of(json.loads(node.args[0])),)
        elif (written := _written_by(op)) is not None:
            node.target = written
        elif isinstance(node.target, BackendOpOverload) and op._schema.is_mutable:
            node.target = op
        elif op is operator.getitem and not node.users:
            node.graph.erase_node(node)
    for module in graph_modules(program.graph_module):
        module.recompile()


# ---- Operators that write a list and give nothing, which has no place in a saved graph ----

_WRITER = re.compile(r"executorch_memory(?:::|\.)write__(\w+?)__(\w+?)__(\w+)")


@functools.cache
def list_writer(op: torch._ops.OpOverload) -> torch._ops.OpOverload:
    """`executorch_memory.write__aten__split_copy__Tensor_out` also gives the list."""
    namespace, name = op._schema.name.split("::")
    own = f"write__{namespace}__{name}__{op._overloadname}"
    arguments = str(op._schema).partition("(")[2].rpartition(" -> ")[0]
    _library.define(f"{own}({re.sub(r'[(][a-z]![)]', '', arguments)} -> Tensor[]")

    def write(*args: Any, **kwargs: Any) -> list[torch.Tensor]:
        op(*args, **kwargs)
        return list(kwargs["out"])

    _library.impl(own, write, "CompositeExplicitAutograd")
    return getattr(_OPS, own).default


def _named(namespace: str, name: str, overload: str) -> torch._ops.OpOverload:
    return getattr(getattr(getattr(torch.ops, namespace), name), overload)


def define_list_writers(saved: str) -> None:
    """Those that a saved program names."""
    for found in set(_WRITER.findall(saved)):
        list_writer(_named(*found))


def _written_by(op: Any) -> torch._ops.OpOverload | None:
    """What a writer of lists stands for."""
    is_op = isinstance(op, torch._ops.OpOverload)
    found = _WRITER.match(op._schema.name) if is_op else None
    return _named(*found.groups()) if found else None


def _calls(program: ExportedProgram) -> list[Node]:
    modules: list[GraphModule] = list(graph_modules(program.graph_module))
    return [n for module in modules for n in module.graph.nodes if n.op == "call_function"]


def _writes(node: Node) -> bool:
    return isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable


def _items(node: Node, value: Any) -> Any:
    """A list that a call is to write, as the list of its items."""
    if not isinstance(value, Node) or not isinstance(value.meta.get("val"), list | tuple):
        return value
    known = {user.args[1]: user for user in value.users if user.target is operator.getitem}
    items = []
    for place, part in enumerate(value.meta["val"]):
        item = known.get(place)
        if item is not None:
            node.prepend(item)
        else:
            with node.graph.inserting_before(node):
                item = node.graph.call_function(operator.getitem, (value, place))
            item.meta["val"] = part
        items.append(item)
    return items


def _plain(spec: Any) -> Any:
    """((sizes), dtype), or a list of such, as JSON has it; sizes that vary at their bound."""
    if isinstance(spec, torch.dtype):
        return str(spec).removeprefix("torch.")
    if isinstance(spec, list | tuple):
        return [_plain(item) for item in spec]
    return int(spec)


def _spec_of(plain: Any) -> Any:
    if len(plain) == 2 and isinstance(plain[1], str):
        return tuple(plain[0]), _DTYPES[plain[1]]
    return [_spec_of(item) for item in plain]
