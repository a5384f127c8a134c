# SPDX-License-Identifier: BSD-3-Clause
"""Values inside of a program as outputs of their own, delegates or not, and beside what PyTorch gives for them."""

from executorch.devtools.intermediate_output_tap._convenience import (
    compare_aot_runtime_dataframe,
    tap_compare,
)
from executorch.devtools.intermediate_output_tap._reducers import (
    FULL_TENSOR,
    STATS,
    StatReducer,
    get_reducer,
)
from executorch.devtools.intermediate_output_tap._selectors import (
    NodeSelector,
    select_all,
    select_all_call_function,
    select_any,
    select_by_module_class,
    select_by_module_path,
    select_by_op_type,
    select_not,
)
from executorch.devtools.intermediate_output_tap._spec import TapSpec
from executorch.devtools.intermediate_output_tap._strip_pass import strip_taps_
from executorch.devtools.intermediate_output_tap._tap_pass import (
    TapRule,
    find_tap_nodes,
    is_tap_node,
    tap_intermediate_outputs_,
)

__all__ = [
    "FULL_TENSOR",
    "NodeSelector",
    "STATS",
    "StatReducer",
    "TapRule",
    "TapSpec",
    "compare_aot_runtime_dataframe",
    "find_tap_nodes",
    "get_reducer",
    "is_tap_node",
    "select_all",
    "select_all_call_function",
    "select_any",
    "select_by_module_class",
    "select_by_module_path",
    "select_by_op_type",
    "select_not",
    "strip_taps_",
    "tap_compare",
    "tap_intermediate_outputs_",
]
