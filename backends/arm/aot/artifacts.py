# SPDX-License-Identifier: BSD-3-Clause
"""What a compile spec asks to keep of a TOSA graph: the graph itself, and where its operators come from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from torch.fx import Node

from executorch.backends.arm.aot.schema import SCHEMA
from executorch.backends.arm.aot.writer import TosaWriter
from executorch.backends.arm.common.arm_compile_spec import ArmCompileSpec
from executorch.exir.graph_facts import op_name

Entry = dict[str, Any]
DEBUG_FILE = "debug.json"


def graph_of(writer: TosaWriter, spec: ArmCompileSpec) -> bytes:
    """The bytes of a graph; origins are in it, or beside the copy of it, as the specification says."""
    modes = ArmCompileSpec.DebugMode
    if spec.tosa_debug_mode is modes.TOSA:
        for operator, entry in zip(writer.operations, _entries(writer), strict=True):
            del entry["tosa_info"]
            operator.location = SCHEMA.make("OpLocation", text=json.dumps(entry))
    payload = writer.packed()
    folder = spec.get_intermediate_path()
    if folder is None:
        return payload
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    count = len(list(place.glob("output_tag*.tosa")))
    (place / f"output_tag{count}_{spec.tosa_spec}.tosa").write_bytes(payload)
    if spec.tosa_debug_mode is modes.JSON:
        _add(place / DEBUG_FILE, _entries(writer))
    return payload


def _add(file: Path, entries: list[Entry]) -> None:
    """Behind those of other graphs."""
    before = json.loads(file.read_text()) if file.exists() else []
    file.write_text(json.dumps([*before, *entries], indent=1))


def _entries(writer: TosaWriter) -> list[Entry]:
    pairs = zip(writer.operations, writer.origins, strict=True)
    return [_entry(number, *each) for number, each in enumerate(pairs)]


def _entry(number: int, operator: Any, origin: Node | None) -> Entry:
    meta = {} if origin is None else origin.meta
    return {
        "event_id": number,
        "aten_info": {
            "node_name": "" if origin is None else origin.name,
            "operator_name": "" if origin is None else op_name(origin),
        },
        "tosa_info": {
            "node_name": operator.outputs[0],
            "operator_name": f"Op.{operator.op.name}",
            "operator_id": int(operator.op),
        },
        "torch_info": {
            "stack_trace": (meta.get("stack_trace") or "").split("\n"),
            "node_trace": [str(each) for each in meta.get("from_node") or ()],
            "nn_module_stack": {
                key: [str(part) for part in each]
                for key, each in (meta.get("nn_module_stack") or {}).items()
            },
            "torch_fn": [str(each) for each in meta.get("torch_fn") or ()],
        },
    }
