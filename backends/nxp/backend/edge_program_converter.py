# SPDX-License-Identifier: BSD-3-Clause
# compat
"""From an edge program to a TFLite model, without an SDK."""

from __future__ import annotations

from torch.export import ExportedProgram

from executorch.backends.nxp.aot.lowering import Formats, lowered
from executorch.backends.nxp.backend.neutron_target_spec import NeutronTargetSpec

Handles = dict[int, tuple[int, ...]]


class EdgeProgramToIRConverter:
    def convert_program(
        self,
        edge_program: ExportedProgram,
        neutron_target_spec: NeutronTargetSpec | None = None,
        use_neutron_for_format_conversion: bool = True,
    ) -> tuple[bytes, Formats, Handles]:
        """Of a program that has nothing but what NeutronPartitioner takes, such as the `original_module` of a delegate:
        the model, the formats of inputs and outputs by name, and by debug handle the places of its operators."""
        spec = neutron_target_spec or NeutronTargetSpec("imxrt700")
        made = lowered(edge_program, spec.get_name(), not use_neutron_for_format_conversion)
        handles: Handles = {}
        for place, op in enumerate(made.graph.operators):
            if op.handle is not None:
                handles[op.handle] = (*handles.get(op.handle, ()), place)
        return made.tflite, made.formats, handles
