# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch's serializer of exported programs under the names that this compiler's users import."""

import torch
from torch._export.serde.schema import ExportedProgram
from torch._export.serde.serialize import (
    _SERIALIZE_TO_TORCH_DTYPE,
    _TORCH_TO_SERIALIZE_DTYPE,
    EnumEncoder,
    ExportedProgramDeserializer,
    ExportedProgramSerializer,
    Final,
    GraphModuleDeserializer,
    GraphModuleSerializer,
    GraphState,
    SerializedArtifact,
    SerializeError,
    _dataclass_to_dict,
    _dict_to_dataclass,
    _int_to_sympy_int,
    _SerializedProgram,
    canonicalize,
    deserialize,
    deserialize_device,
    deserialize_torch_artifact,
    serialize,
    serialize_range_constraints,
    serialize_sym_bool,
    serialize_sym_int,
    serialize_tensor_meta,
    serialize_torch_artifact,
)

__all__ = [
    "ExportedProgram",
    "_SERIALIZE_TO_TORCH_DTYPE",
    "_TORCH_TO_SERIALIZE_DTYPE",
    "_dataclass_to_dict",
    "_dict_to_dataclass",
    "_int_to_sympy_int",
    "_is_single_tensor_return",
    "EnumEncoder",
    "ExportedProgramDeserializer",
    "ExportedProgramSerializer",
    "Final",
    "GraphModuleDeserializer",
    "GraphModuleSerializer",
    "GraphState",
    "SerializeError",
    "SerializedArtifact",
    "_SerializedProgram",
    "canonicalize",
    "deserialize",
    "deserialize_device",
    "deserialize_torch_artifact",
    "serialize",
    "serialize_range_constraints",
    "serialize_sym_bool",
    "serialize_sym_int",
    "serialize_tensor_meta",
    "serialize_torch_artifact",
]


def _is_single_tensor_return(target: torch._ops.OpOverload) -> bool:
    """True for an operator whose only result is a tensor."""
    returns = target._schema.returns
    return len(returns) == 1 and isinstance(returns[0].real_type, torch.TensorType)
