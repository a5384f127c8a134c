# SPDX-License-Identifier: BSD-3-Clause
"""A method that yields gradients also yields the parameters they belong to, for optimizers of the runtime.

before: return (%loss, %gradient)                after: return (%loss, %gradient, %p_weight)
"""

from __future__ import annotations

from torch.export import ExportedProgram
from torch.export.graph_signature import (
    ExportGraphSignature,
    OutputKind,
    OutputSpec,
    TensorArgument,
)


def weights_to_outputs_pass(exported_program: ExportedProgram) -> ExportedProgram:
    """Works in place and gives the program back; without gradients nothing changes. The parameters get
    `meta["weight_has_gradient"]`."""
    signature = exported_program.graph_signature
    with_gradient = [
        spec.target
        for spec in signature.output_specs
        if spec.kind == OutputKind.GRADIENT_TO_PARAMETER
    ]
    if not with_gradient:
        return exported_program
    name_of = {target: name for name, target in signature.inputs_to_parameters.items()}
    placeholders = {n.name: n for n in exported_program.graph.find_nodes(op="placeholder")}
    weights = [placeholders[name_of[target]] for target in with_gradient]
    for weight in weights:
        weight.meta["weight_has_gradient"] = True
    output = exported_program.graph.output_node()
    output.args = ((*output.args[0], *weights),)
    added = [
        OutputSpec(OutputKind.TOKEN, TensorArgument(weight.name), target)
        for weight, target in zip(weights, with_gradient)
    ]
    exported_program._graph_signature = ExportGraphSignature(
        list(signature.input_specs), [*signature.output_specs, *added]
    )
    exported_program.graph_module.recompile()
    return exported_program
