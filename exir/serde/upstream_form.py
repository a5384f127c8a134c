# SPDX-License-Identifier: BSD-3-Clause
"""Programs in a record have the form that upstream's tools read: an older schema of PyTorch's serializer, in which
operators of the edge dialect have their path in Python as name, and debug handles are metadata of nodes.

A program with delegated parts has no such form: it stands in ours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import torch
from torch._export.serde.schema import SCHEMA_VERSION

_UPSTREAM_VERSION = {"major": 5, "minor": 4}
_OURS, _THEIRS = "#edge:", "executorch.exir.dialects.edge.ops."
_HANDLE = "debug_handle"
_ONLY_OURS = {
    "program": ("torch_version", "guards_code", "node_meta", "delegates"),
    "graph_module": ("metadata", "treespec_namedtuple_fields"),
    "graph": ("sym_float_values",),
    "node": ("is_hop_single_tensor_return",),
    "input": ("kind",),
    "signature": ("forward_arg_names",),
}


def to_upstream(data: bytes) -> bytes:
    """From what exir.serde writes."""
    program = json.loads(data)
    if program.get("delegates"):
        return data
    for graph, meta in zip(_graphs(program), _node_meta(program)):
        for node in graph["nodes"]:
            handle = meta.get(node.get("name"), {}).get(_HANDLE)
            if handle is not None:
                node["metadata"][_HANDLE] = str(handle)
            if node["target"].startswith(_OURS):
                node["target"] = _THEIRS + node["target"].removeprefix(_OURS)
            _drop(node, "node")
            for given in node["inputs"]:
                _drop(given, "input")
        _drop(graph, "graph")
    _drop(program, "program")
    _drop(program["graph_module"], "graph_module")
    for call in program["graph_module"]["module_call_graph"]:
        _drop(call.get("signature") or {}, "signature")
    program |= {"schema_version": _UPSTREAM_VERSION, "dialect": ""}
    return json.dumps(program).encode()


def from_upstream(data: bytes) -> bytes:
    """For exir.serde; what is in its own form already is left as it is."""
    program = json.loads(data)
    if program["schema_version"] != _UPSTREAM_VERSION and "dialect" not in program:
        return data
    metas = []
    for graph in _graphs(program):
        meta: dict[str, Any] = {}
        for node in graph["nodes"]:
            handle = node["metadata"].pop(_HANDLE, None)
            if handle is not None and "name" in node:
                meta[node["name"]] = {_HANDLE: int(handle)}
            if node["target"].startswith(_THEIRS):
                node["target"] = _OURS + node["target"].removeprefix(_THEIRS)
        metas.append(meta)
    program.pop("dialect", None)
    program |= {
        "schema_version": dict(zip(("major", "minor"), SCHEMA_VERSION)),
        "torch_version": torch.__version__,
        "node_meta": metas,
    }
    return json.dumps(program).encode()


def _drop(table: dict[str, Any], kind: str) -> None:
    for key in _ONLY_OURS[kind]:
        table.pop(key, None)


def _graphs(program: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The program's graph, then those of its branches."""
    stack = [program["graph_module"]["graph"]]
    while stack:
        graph = stack.pop(0)
        yield graph
        for node in graph["nodes"]:
            stack.extend(
                given["arg"]["as_graph"]["graph"]
                for given in node["inputs"]
                if "as_graph" in given["arg"]
            )


def _node_meta(program: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Of each graph, found by the names of its nodes: branches are counted in another order there."""
    metas = list(program.get("node_meta") or [])
    for graph in _graphs(program):
        names = {node.get("name") for node in graph["nodes"]}
        found = max(metas, key=lambda meta: len(names & set(meta)), default={})
        if found in metas:
            metas.remove(found)
        yield found
