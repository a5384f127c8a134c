# SPDX-License-Identifier: BSD-3-Clause
"""Constant methods that say where a method's gradients and parameters stand among its outputs, for
extension/training."""

from __future__ import annotations

from typing import Any

from torch.export.graph_signature import ExportGraphSignature, OutputKind

from executorch.exir.error import InternalError
from executorch.exir.graph_facts import changed_inputs

# Outputs of a method, in order; the last two exist only where it computes gradients.
USER_OUTPUTS = (
    OutputKind.USER_OUTPUT,
    OutputKind.LOSS_OUTPUT,
    OutputKind.GRADIENT_TO_PARAMETER,
    OutputKind.GRADIENT_TO_USER_INPUT,
    OutputKind.TOKEN,  # weights, beside their gradients
)


def training_getters(name: str, signature: ExportGraphSignature) -> dict[str, Any]:
    """Empty for a method without gradients. The indices count what the method gives to its caller: user outputs,
    gradients, parameters; the names are those of both gradients and parameters."""
    outputs = [spec for spec in signature.output_specs if spec.kind in USER_OUTPUTS]
    before = len(changed_inputs(signature))  # outputs of their own
    gradients = _places(outputs, OutputKind.GRADIENT_TO_PARAMETER)
    if not gradients:
        return {}
    names = [outputs[place].target for place in gradients]
    parameters = _places(outputs, OutputKind.TOKEN)
    in_order = [outputs[place].target for place in parameters] == names
    if not (in_order and _is_run(gradients) and _is_run(parameters)):
        raise InternalError(
            f"method {name}: expected gradients and then their parameters among the outputs, found "
            f"{[(spec.kind.name, spec.target) for spec in outputs]}; run weights_to_outputs_pass last of all that "
            "changes outputs"
        )
    return {
        f"__et_training_gradients_index_{name}": before + gradients[0],
        f"__et_training_fqn_{name}": names,
        f"__et_training_parameters_index_{name}": before + parameters[0],
    }


def _places(outputs: list[Any], kind: OutputKind) -> list[int]:
    return [place for place, spec in enumerate(outputs) if spec.kind == kind]


def _is_run(places: list[int]) -> bool:
    return places == list(range(places[0], places[0] + len(places)))
