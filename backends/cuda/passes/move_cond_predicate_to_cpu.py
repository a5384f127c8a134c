# SPDX-License-Identifier: BSD-3-Clause
"""The predicate of a `torch.cond` that is a constant buffer lies on the CPU, where it is read without waiting for the
device."""

from __future__ import annotations

import torch
from torch.export import ExportedProgram

from executorch.exir.graph_facts import changing_data, data_spec_of, holder_of, replace_data


class MoveCondPredicateToCpuPass:
    """Of a whole program, as it moves data. True for one that it changed."""

    def __call__(self, program: ExportedProgram) -> bool:
        changing = changing_data(program.graph_signature)
        is_changed = False
        for node in program.graph.find_nodes(
            op="call_function", target=torch.ops.higher_order.cond
        ):
            predicate = node.args[0]
            spec = data_spec_of(program, predicate)
            if spec is None or spec.target is None or spec.target in changing:
                continue
            value = holder_of(program, spec.target)[spec.target]
            if value.device.type != "cpu":
                replace_data(program, spec.target, value.cpu())
                predicate.meta["val"] = predicate.meta["val"].to("cpu")
                is_changed = True
        return is_changed
