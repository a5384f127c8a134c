# SPDX-License-Identifier: BSD-3-Clause
"""Delegate calls in a saved program. PyTorch's serializer writes the called module as a string; the module itself
stands in a table beside the program, with the program it was made from."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from torch.export import ExportedProgram
from torch.fx import GraphModule

from executorch.exir._serialize._named_data_store import NamedDataStore, NamedDataStoreOutput
from executorch.exir.delegate import executorch_call_delegate
from executorch.exir.lowered_backend_module import (
    LoweredBackendModule,
    get_lowered_backend_modules,
)
from executorch.exir.scalar_type import ScalarType
from executorch.exir.schema import CompileSpec
from executorch.exir.serde import schema
from executorch.exir.serde.export_serialize import SerializedArtifact
from executorch.exir.tensor_layout import TensorLayout


def _text(data: Any) -> str:
    return base64.b64encode(bytes(data)).decode("ascii")


def graph_modules(module: GraphModule) -> Iterator[GraphModule]:
    """The graph and its branches; not the programs inside lowered modules."""
    yield module
    for child in module.children():
        if isinstance(child, GraphModule):
            yield from graph_modules(child)


@contextlib.contextmanager
def named_modules(program: ExportedProgram) -> Iterator[dict[str, LoweredBackendModule]]:
    """Inside, the modules have names, and results of calls are tuples, as PyTorch's serializer wants them."""
    modules = get_lowered_backend_modules(program.graph_module)
    calls = [
        node
        for module in graph_modules(program.graph_module)
        for node in module.graph.find_nodes(op="call_function", target=executorch_call_delegate)
    ]
    names = {}
    for number, module in enumerate(modules):
        module.__dict__["module_name"] = f"lowered_module_{number}"
        names[f"lowered_module_{number}-{module.backend_id}"] = module
    results = [node.meta["val"] for node in calls]
    for node, result in zip(calls, results, strict=True):
        node.meta["val"] = tuple(result) if isinstance(result, list) else result
    try:
        yield names
    finally:
        for module in modules:
            del module.__dict__["module_name"]
        for node, result in zip(calls, results, strict=True):
            node.meta["val"] = result


def module_record(
    module: LoweredBackendModule, save: Callable[[ExportedProgram], SerializedArtifact]
) -> dict[str, Any]:
    """A row of the table: `schema.LoweredBackendModule` as plain data."""
    original = save(module._original_exported_program)
    specs = [{"key": spec.key, "value": _text(spec.value)} for spec in module.compile_specs]
    store = module.named_data_store_output
    return {
        "backend_id": module.backend_id,
        "processed_bytes": _text(module.processed_bytes),
        "compile_specs": specs,
        "original_module": json.loads(original.exported_program),
        "original_state_dict": _text(original.state_dict),
        "original_constants": _text(original.constants),
        "example_inputs": _text(original.example_inputs),
        "named_data_store": _text(_pack(store)) if store is not None else None,
    }


def module_of(
    record: dict[str, Any], load: Callable[[SerializedArtifact], ExportedProgram]
) -> LoweredBackendModule:
    row = {**record, "compile_specs": [schema.CompileSpec(**s) for s in record["compile_specs"]]}
    saved = schema.LoweredBackendModule(**row)
    original = SerializedArtifact(
        json.dumps(saved.original_module).encode(),
        base64.b64decode(saved.original_state_dict),
        base64.b64decode(saved.original_constants),
        base64.b64decode(saved.example_inputs),
    )
    store = saved.named_data_store
    return LoweredBackendModule(
        load(original),
        saved.backend_id,
        base64.b64decode(saved.processed_bytes),
        [CompileSpec(spec.key, base64.b64decode(spec.value)) for spec in saved.compile_specs],
        _unpack(base64.b64decode(store)) if store is not None else None,
    )


def put_back(program: ExportedProgram, modules: dict[str, LoweredBackendModule]) -> None:
    """Calls name their modules again; works in place."""
    for graph_module in graph_modules(program.graph_module):
        attributes: dict[str, str] = {}
        for node in graph_module.graph.find_nodes(
            op="call_function", target=executorch_call_delegate
        ):
            name = node.args[0]
            target = attributes.setdefault(name, name.partition("-")[0])
            if not hasattr(graph_module, target):
                graph_module.add_module(target, modules[name])
            with graph_module.graph.inserting_before(node):
                attribute = graph_module.graph.get_attr(target)
            node.args = (attribute, *node.args[1:])
            node.meta["val"] = list(node.meta["val"])
        if attributes:
            graph_module.recompile()


def _pack(store: NamedDataStoreOutput) -> bytes:
    def rows(entries: dict[str, Any]) -> dict[str, Any]:
        return {key: asdict(entry) for key, entry in entries.items()}

    table = {
        "pte_data": rows(store.pte_data),
        "external_data": {tag: rows(entries) for tag, entries in store.external_data.items()},
    }
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("table.json", json.dumps(table))
        for number, data in enumerate(store.buffers):
            archive.writestr(f"buffers/{number}", bytes(data))
    return stream.getvalue()


def _unpack(data: bytes) -> NamedDataStoreOutput:
    store = NamedDataStore()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        table = json.loads(archive.read("table.json"))
        for tag, entries in [(None, table["pte_data"]), *table["external_data"].items()]:
            for key, entry in entries.items():
                layout = entry["tensor_layout"]
                store.add_named_data(
                    key,
                    archive.read(f"buffers/{entry['buffer_index']}"),
                    entry["alignment"],
                    tag,
                    TensorLayout(
                        ScalarType(layout["scalar_type"]), layout["sizes"], layout["dim_order"]
                    )
                    if layout
                    else None,
                )
    return store.get_named_data_store_output()
