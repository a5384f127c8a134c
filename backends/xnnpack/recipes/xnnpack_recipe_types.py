# SPDX-License-Identifier: BSD-3-Clause
"""The recipes for XNNPACK by name."""

from executorch.export.recipe import RecipeType


class XNNPackRecipeType(RecipeType):
    """`per_tensor` of the 4-bit ones: groups of columns share a scale; `group_size` says how many (32)."""

    FP32 = "xnnpack_fp32"
    PT2E_INT8_DYNAMIC_PER_CHANNEL = "xnnpack_pt2e_int8_dynamic_per_channel"
    PT2E_INT8_STATIC_PER_CHANNEL = "xnnpack_pt2e_int8_static_per_channel"
    PT2E_INT8_STATIC_PER_TENSOR = "xnnpack_pt2e_int8_static_per_tensor"
    TORCHAO_INT8_DYNAMIC_ACT_INT4_WEIGHT_PER_CHANNEL = "xnnpack_torchao_int8da_int4w_per_channel"
    TORCHAO_INT8_DYNAMIC_ACT_INT4_WEIGHT_PER_TENSOR = "xnnpack_torchao_int8da_int4w_per_tensor"

    @classmethod
    def get_backend_name(cls) -> str:
        return "xnnpack"
