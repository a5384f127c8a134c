# SPDX-License-Identifier: BSD-3-Clause
"""The parts of the Inspector under the path where other code imports them from."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO

import pandas as pd

from executorch.devtools.etdump.schema_flatcc import ETDumpFlatCC, is_debug_output
from executorch.devtools.etdump.serialize import deserialize_from_etdump_flatcc
from executorch.devtools.inspector._events import (
    RESERVED_FRAMEWORK_EVENT_NAMES,
    find_populated_event,
)
from executorch.devtools.inspector._graphs import (
    EDGE_DIALECT_GRAPH_KEY,
    FORWARD,
    DebugHandle,
    NodeFilter,
    create_debug_handle_to_op_node_mapping,
    find_op_names,
    gen_graphs_from_etrecord,
    get_aot_debug_handle_to_op_name_mapping,
    propagate_back_debug_handle,
)
from executorch.devtools.inspector._numeric_mapping import (
    map_runtime_aot_intermediate_outputs,
    merge_runtime_overlapping_debug_handles,
)
from executorch.devtools.inspector._time_scale import (
    TIME_SCALE_DICT,
    TimeScale,
    calculate_time_scale_factor,
)
from executorch.devtools.inspector._values import (
    InferenceOutput,
    ProgramOutput,
    calculate_cosine_similarity,
    calculate_mse,
    calculate_snr,
    compare_results,
    convert_to_float_tensor,
    inflate_runtime_output,
    is_inference_output_equal,
    plot_metric,
    verify_debug_data_equivalence,
)

__all__ = [
    "EDGE_DIALECT_GRAPH_KEY", "EXCLUDED_COLUMNS_WHEN_PRINTING", "EXCLUDED_EVENTS_FOR_INTERMEDIATE_OUTPUT",
    "EXCLUDED_EVENTS_WHEN_PRINTING", "FORWARD", "RESERVED_FRAMEWORK_EVENT_NAMES", "TIME_SCALE_DICT", "DebugHandle",
    "InferenceOutput", "NodeFilter", "ProgramOutput", "TimeScale", "calculate_cosine_similarity", "calculate_mse",
    "calculate_snr", "calculate_time_scale_factor", "compare_results", "convert_to_float_tensor",
    "create_debug_handle_to_op_node_mapping", "display_or_print_df", "find_op_names", "find_populated_event",
    "gen_etdump_object", "gen_graphs_from_etrecord", "get_aot_debug_handle_to_op_name_mapping",
    "inflate_runtime_output", "is_debug_output", "is_inference_output_equal", "map_runtime_aot_intermediate_outputs",
    "merge_runtime_overlapping_debug_handles", "plot_metric", "propagate_back_debug_handle",
    "verify_debug_data_equivalence",
]  # fmt: skip

EXCLUDED_COLUMNS_WHEN_PRINTING = [
    "raw",
    "delegate_debug_identifier",
    "stack_traces",
    "module_hierarchy",
    "debug_data",
]
DELEGATE_CALL = "DELEGATE_CALL"
EXCLUDED_EVENTS_WHEN_PRINTING = {"OPERATOR_CALL"}
EXCLUDED_EVENTS_FOR_INTERMEDIATE_OUTPUT = {"OPERATOR_CALL"}


def gen_etdump_object(
    etdump_path: str | None = None, etdump_data: bytes | None = None
) -> ETDumpFlatCC:
    """The dump of a file or of bytes. Raises ValueError unless exactly one is given, or for what is no dump."""
    if (etdump_path is None) == (etdump_data is None):
        raise ValueError(
            "Expecting exactly one of etdump_path or etdump_data to be specified, got both or none"
        )
    data = Path(etdump_path).read_bytes() if etdump_path is not None else etdump_data
    return deserialize_from_etdump_flatcc(data)


def display_or_print_df(df: pd.DataFrame, file: IO[str] = sys.stdout) -> None:
    """A styled table in a notebook, else text with lines around the cells."""
    if "ipykernel" in sys.modules and file is sys.stdout:
        from IPython.display import display

        display(df.style)
        return
    from tabulate import tabulate

    print(tabulate(df, headers="keys", tablefmt="fancy_grid"), file=file)
