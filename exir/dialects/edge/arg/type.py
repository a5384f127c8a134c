# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Kinds of arguments that edge operators have."""

from enum import Enum


class ArgType(str, Enum):
    """Named as in schemas; `Param` is everything that has no dtype."""

    Tensor = "Tensor"
    TensorOpt = "Tensor?"
    TensorList = "Tensor[]"
    TensorOptList = "Tensor?[]"
    Scalar = "Scalar"
    ScalarOpt = "Scalar?"
    ScalarType = "ScalarType"
    ScalarTypeOpt = "ScalarType?"
    Param = "Param"

    def is_tensor(self) -> bool:
        return self in (ArgType.Tensor, ArgType.TensorOpt)

    def is_tensor_list(self) -> bool:
        return self in (ArgType.TensorList, ArgType.TensorOptList)

    def is_scalar(self) -> bool:
        return self in (ArgType.Scalar, ArgType.ScalarOpt)

    def is_scalar_type(self) -> bool:
        return self in (ArgType.ScalarType, ArgType.ScalarTypeOpt)

    def is_optional(self) -> bool:
        return self in (ArgType.TensorOpt, ArgType.ScalarOpt, ArgType.ScalarTypeOpt)

    def has_dtype(self) -> bool:
        return self is not ArgType.Param
