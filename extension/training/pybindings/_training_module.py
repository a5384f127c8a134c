# SPDX-License-Identifier: BSD-3-Clause
"""TrainingModule: a program whose methods compute gradients beside their outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from executorch.exir._warnings import experimental
from executorch.extension.pybindings._portable_lib import (
    ExecuTorchModule,
    _load_for_executorch,
    _load_for_executorch_from_buffer,
)

_EXPERIMENTAL = "This API is experimental and subject to change without notice."


@experimental(_EXPERIMENTAL)
class TrainingModule:
    """For programs of `torch.export.experimental._export_forward_backward`. Tensors are PyTorch's, or NumPy's for
    inputs of NumPy; one thread at a time."""

    gradients_method_prefix = "__et_training_gradients_index_"
    parameters_method_prefix = "__et_training_parameters_index_"
    fqn_method_prefix = "__et_training_fqn_"

    def __init__(self, module: ExecuTorchModule) -> None:
        self.model = module
        self._gradients: dict[str, Any] | None = None
        self._parameters: dict[str, dict[str, Any]] = {}
        self._last_method: str | None = None

    def forward_backward(self, method_name: str, inputs: Sequence[Any]) -> list[Any]:
        """Runs a method: copies of the loss and the other outputs of the user. Gradients are in `named_gradients()`
        then."""
        first = self._place(self.gradients_method_prefix, method_name)
        outputs = self.model.run_method(method_name, inputs, clone_outputs=False)
        names = self.model.run_method(self.fqn_method_prefix + method_name)
        self._gradients = dict(zip(names, outputs[first : first + len(names)], strict=True))
        self._last_method = method_name
        return [_copy(value) for value in outputs[:first]]

    def named_gradients(self) -> dict[str, Any]:
        """Copies of the gradients of the last `forward_backward`, by parameter."""
        if self._gradients is None:
            raise RuntimeError("Must call forward_backward before named_grads/named_params")
        return {name: _copy(value) for name, value in self._gradients.items()}

    def named_parameters(self, method_name: str | None = None) -> dict[str, Any]:
        """The parameters of a method, or of the last `forward_backward`, in the program's memory: who writes them
        (an optimizer, `load_checkpoint`) changes the model."""
        name = method_name or self._last_method
        if name is None:
            raise RuntimeError("Must call forward_backward before named_grads/named_params")
        if name not in self._parameters:
            first = self._place(self.parameters_method_prefix, name)
            names = self.model.run_method(self.fqn_method_prefix + name)
            outputs = self.model.get_outputs(name, clone_outputs=False)
            self._parameters[name] = dict(
                zip(names, outputs[first : first + len(names)], strict=True)
            )
        return dict(self._parameters[name])

    def named_attributes(self, method_name: str) -> dict[str, Any]:
        """What a method keeps from run to run, in the program's memory: its parameters and the buffers that it writes
        (running statistics, say); of programs with `emit_mutable_buffer_names`."""
        meta = self.model.method_meta(method_name)
        infos = [meta.attribute_tensor_meta(index) for index in range(meta.num_attributes())]
        names = [info.name() for info in infos]
        return {name: self.model.get_attribute(method_name, name, clone=False) for name in names}

    def _place(self, prefix: str, method_name: str) -> int:
        getter = prefix + method_name
        if getter not in self.model.method_names():
            raise RuntimeError(
                f"method {method_name} computes no gradients, or there is no such method: export it with "
                "torch.export.experimental._export_forward_backward"
            )
        return self.model.run_method(getter)[0]


@experimental(_EXPERIMENTAL)
def _load_for_executorch_for_training(path: str, data_path: str | None = None) -> TrainingModule:
    """The program of a file, with its data file (.ptd) if it has one."""
    return TrainingModule(_load_for_executorch(path, data_path))


@experimental(_EXPERIMENTAL)
def _load_for_executorch_for_training_from_buffer(
    buffer: bytes, data_map_buffer: bytes | None = None
) -> TrainingModule:
    """The program of a file's bytes, with those of its data file if it has one."""
    return TrainingModule(_load_for_executorch_from_buffer(buffer, data_map_buffer))


def _copy(value: Any) -> Any:
    copy = getattr(value, "clone", None) or getattr(value, "copy", None)
    return value if copy is None else copy()
