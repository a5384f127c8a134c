# SPDX-License-Identifier: BSD-3-Clause
"""Inspector: what a run did (ETDump), joined with the model it came from (ETRecord)."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, TypeAlias, TypedDict

import pandas as pd
from torch.export import ExportedProgram
from torch.fx import GraphModule

from executorch.devtools.debug_format.et_schema import OperatorGraph
from executorch.devtools.etdump import schema_flatcc as flatcc
from executorch.devtools.etdump.schema_flatcc import DebugEvent, ETDumpFlatCC, ProfileEvent
from executorch.devtools.etrecord import ETRecord, parse_etrecord
from executorch.devtools.inspector._events import (
    DebugEventSignature,
    Event,
    EventBlock,
    EventSignature,
    InstructionEvent,
    InstructionEventSignature,
    PerfData,
    ProfileEventSignature,
)
from executorch.devtools.inspector._graphs import one_method
from executorch.devtools.inspector._inspector_utils import (
    DELEGATE_CALL,
    EDGE_DIALECT_GRAPH_KEY,
    EXCLUDED_COLUMNS_WHEN_PRINTING,
    EXCLUDED_EVENTS_FOR_INTERMEDIATE_OUTPUT,
    EXCLUDED_EVENTS_WHEN_PRINTING,
    RESERVED_FRAMEWORK_EVENT_NAMES,
    DebugHandle,
    ProgramOutput,
    TimeScale,
    calculate_time_scale_factor,
    create_debug_handle_to_op_node_mapping,
    display_or_print_df,
    find_populated_event,
    gen_etdump_object,
    gen_graphs_from_etrecord,
    get_aot_debug_handle_to_op_name_mapping,
    map_runtime_aot_intermediate_outputs,
    merge_runtime_overlapping_debug_handles,
    propagate_back_debug_handle,
)
from executorch.devtools.inspector._intermediate_output_capturer import IntermediateOutputCapturer
from executorch.devtools.inspector._numeric_mapping import with_outputs_last
from executorch.devtools.inspector.numerical_comparator import (
    L1Comparator,
    MSEComparator,
    NumericalComparatorBase,
    SNRComparator,
)

__all__ = [
    "DebugEvent", "DebugEventSignature", "DebugHandle", "DelegateMetadata", "ETDumpFlatCC", "ETRecord", "Event",
    "EventBlock", "EventSignature", "Inspector", "InstructionEvent", "InstructionEventSignature", "OperatorGraph",
    "PerfData", "ProfileEvent", "ProfileEventSignature", "ProgramOutput", "TimeScale", "calculate_time_scale_factor",
    "find_populated_event", "flatcc",
]  # fmt: skip

log = logging.getLogger(__name__)
DelegateIdentifierDebugHandleMap: TypeAlias = (
    dict[int, tuple[int, ...]] | dict[str, tuple[int, ...]]
)


class DelegateMetadata(TypedDict):
    name: str
    delegate_map: DelegateIdentifierDebugHandleMap


_COMPARATORS: dict[str, type[NumericalComparatorBase]] = {
    "MSE": MSEComparator,
    "L1": L1Comparator,
    "SNR": SNRComparator,
}


class Inspector:
    """`event_blocks`: what ran, one Event per operator and per part of a delegate, with the time of each run.

    With an ETRecord every event has the lines of Python it comes from."""

    def __init__(
        self,
        etdump_path: str | None = None,
        etdump_data: bytes | None = None,
        etrecord: ETRecord | str | None = None,
        source_time_scale: TimeScale = TimeScale.NS,
        target_time_scale: TimeScale = TimeScale.MS,
        debug_buffer_path: str | None = None,
        delegate_metadata_parser: Callable[[list[Any]], Any] | None = None,
        delegate_time_scale_converter: Callable[[int | str, int | float], int | float]
        | None = None,
        enable_module_hierarchy: bool = False,
        reference_graph_name: str = EDGE_DIALECT_GRAPH_KEY,
        buffer_path: str | None = None,
    ) -> None:
        """Exactly one of `etdump_path` and `etdump_data`.

        `source_time_scale`: of the device's clock; CYCLES has no unit and must be both scales or none.
        `debug_buffer_path` (or `buffer_path`): the values that were recorded beside the dump; without it events have
        none. `delegate_metadata_parser`: from the bytes that a delegate recorded, one per run, to what
        Event.delegate_debug_metadatas gives. `delegate_time_scale_converter(event name, time)`: for delegates with a
        clock of their own. `reference_graph_name`: the record's graph that events are explained by.

        Raises ValueError and RuntimeError for arguments that do not go together, TypeError for another kind of record.
        """
        if (source_time_scale == TimeScale.CYCLES) != (target_time_scale == TimeScale.CYCLES):
            raise RuntimeError(
                "For TimeScale in cycles both the source and target time scale have to be in cycles, got "
                f"{source_time_scale.value} and {target_time_scale.value}"
            )
        debug_buffer_path = debug_buffer_path or buffer_path
        self._etrecord = _record(etrecord)
        etdump = gen_etdump_object(etdump_path=etdump_path, etdump_data=etdump_data)
        values = Path(debug_buffer_path).read_bytes() if debug_buffer_path is not None else None
        if values is None and _has_values(etdump):
            log.warning("The dump records values: give debug_buffer_path to see them.")
        self.event_blocks = EventBlock._gen_from_etdump(
            etdump,
            source_time_scale,
            target_time_scale,
            values,
            delegate_metadata_parser,
            delegate_time_scale_converter,
        )
        self._reference_outputs: dict[str, list[ProgramOutput]] = {}
        self._enable_module_hierarchy = enable_module_hierarchy
        self._consume_etrecord(reference_graph_name)

    def _consume_etrecord(self, reference_graph_name: str) -> None:
        if self._etrecord is None:
            return
        record = self._etrecord
        handle_map = one_method(record._debug_handle_map)
        if handle_map is not None:
            for block in self.event_blocks:
                block._gen_resolve_debug_handles(
                    handle_map,
                    one_method(record._delegate_map),
                    one_method(record._instruction_id_to_num_outs_map),
                )
        graphs = gen_graphs_from_etrecord(record, self._enable_module_hierarchy)
        if reference_graph_name in graphs:
            nodes = create_debug_handle_to_op_node_mapping(graphs[reference_graph_name])
            for block in self.event_blocks:
                for event in block.events:
                    event._associate_with_op_graph_nodes(nodes)
        outputs = one_method(record._reference_outputs)
        for block in self.event_blocks:
            index = block.bundled_input_index
            if outputs is not None and index is not None and 0 <= index < len(outputs):
                block.reference_output = outputs[index]

    def to_dataframe(
        self, include_units: bool = True, include_delegate_debug_data: bool = False
    ) -> pd.DataFrame:
        """One row per event of all blocks."""
        tables = [
            block.to_dataframe(include_units, include_delegate_debug_data)
            for block in self.event_blocks
        ]
        return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()

    def _prepare_dataframe(
        self, include_units: bool = True, include_delegate_debug_data: bool = False
    ) -> pd.DataFrame:
        table = self.to_dataframe(include_units, include_delegate_debug_data)
        if table.empty:
            return table
        shown = table[~table["event_name"].isin(EXCLUDED_EVENTS_WHEN_PRINTING)]
        return shown.drop(columns=EXCLUDED_COLUMNS_WHEN_PRINTING).reset_index(drop=True)

    def print_data_tabular(
        self,
        file: IO[str] = sys.stdout,
        include_units: bool = True,
        include_delegate_debug_data: bool = False,
    ) -> None:
        """The table, without the columns and rows that are too wide or too many to read."""
        display_or_print_df(
            self._prepare_dataframe(include_units, include_delegate_debug_data), file
        )

    def save_data_to_tsv(
        self,
        file: IO[str],
        include_units: bool = True,
        include_delegate_debug_data: bool = False,
    ) -> None:
        """What print_data_tabular shows, columns divided by tabs."""
        self._prepare_dataframe(include_units, include_delegate_debug_data).to_csv(file, sep="\t")

    def find_total_for_module(self, module_name: str) -> float:
        """Average times of the operators that come from modules with `module_name` in their name, added up: in
        the target's unit. A delegate that reports its operators counts by these, any other one by its call. Needs a
        record and enable_module_hierarchy."""
        return sum(
            event.perf_data.avg
            for block in self.event_blocks
            for event in _counted_once(block)
            if event.perf_data is not None
            and any(
                module_name in key
                for modules in event.module_hierarchy.values()
                for key in modules or ()
            )
        )

    def get_op_list(
        self, event_block: str, show_delegated_ops: bool | None = True
    ) -> dict[str, list[Event]]:
        """The events of the blocks of that name, by the type of their operators."""
        found: dict[str, list[Event]] = {}
        for block in self.event_blocks:
            for event in block.events if block.name == event_block else ():
                if event.name in EXCLUDED_EVENTS_WHEN_PRINTING or (
                    event.is_delegated_op and not show_delegated_ops
                ):
                    continue
                for op_type in dict.fromkeys(event.op_types):
                    found.setdefault(op_type, []).append(event)
        return found

    def write_tensorboard_artifact(self, path: str) -> None:
        """Not there: raises NotImplementedError."""
        raise NotImplementedError("write_tensorboard_artifact: use to_dataframe()")

    def get_exported_program(self, graph: str | None = None) -> ExportedProgram | None:
        """The edge program, or the record's graph of that name; None without a record."""
        if self._etrecord is None:
            log.warning("No record: give etrecord to see programs.")
            return None
        if graph is None or graph == EDGE_DIALECT_GRAPH_KEY:
            return one_method(self._etrecord.edge_dialect_program)
        return (self._etrecord.graph_map or {}).get(graph)

    def calculate_numeric_gap(
        self,
        distance: str | NumericalComparatorBase,
        disable_debug_handle_valdiation: bool = False,
        reference_graph: str | None = None,
    ) -> pd.DataFrame:
        """How far each operator's value at run time is from the model's, run by PyTorch on the record's
        representative inputs: one row per operator that stands outside of delegates, and one per delegate.

        `distance`: "L1", "MSE", "SNR", or a comparator. `reference_graph`: the record's graph to compare with; the
        exported program if its operators can be told from the handles, else the edge program.
        Raises ValueError when something is missing."""
        comparator = _comparator(distance)
        comparator.inspector = self
        if self._etrecord is None or self._etrecord._representative_inputs is None:
            raise ValueError(
                "Missing etrecord or missing representative inputs within etrecord, both are required for "
                "calculating the numeric gap: call update_representative_inputs() before saving"
            )
        module, name = self._resolve_reference_graph(
            reference_graph, disable_debug_handle_valdiation
        )
        aot, aot_names = self._get_aot_intermediate_outputs_and_op_names(module)
        runtime, runtime_names = self._get_runtime_intermediate_outputs_and_op_names()
        runtime = with_outputs_last(runtime, module.graph)
        mapping = map_runtime_aot_intermediate_outputs(aot, runtime)
        table = comparator.compare(mapping, aot_names, runtime_names)
        traces = self._get_aot_debug_handle_to_stack_traces(module, name)
        table["stacktraces"] = [
            {
                op: trace
                for handle in _singles(handles)
                for op, trace in traces.get(handle, {}).items()
            }
            for handles in table["aot_debug_handle"]
        ]
        return table

    def _resolve_reference_graph(
        self, reference_graph: str | None = None, disable_debug_handle_validation: bool = False
    ) -> tuple[GraphModule, str]:
        record = self._etrecord
        assert record is not None, "the caller asked for a record"
        edge = one_method(record.edge_dialect_program)
        if reference_graph is not None and reference_graph != EDGE_DIALECT_GRAPH_KEY:
            if reference_graph not in (record.graph_map or {}):
                known = [EDGE_DIALECT_GRAPH_KEY, *(record.graph_map or {})]
                raise ValueError(
                    f"Reference graph {reference_graph!r} not found: the record has {', '.join(known)}"
                )
            return record.graph_map[reference_graph].module(), reference_graph
        if (
            reference_graph is None
            and record.exported_program is not None
            and record.export_graph_id is not None
            and propagate_back_debug_handle(
                record.exported_program,
                record.export_graph_id,
                edge,
                disable_debug_handle_validation,
            )
        ):
            return record.exported_program.module(), "exported_program"
        if reference_graph is None:
            log.info("Operators are compared with the edge program, not with the exported one.")
        return edge.module(), EDGE_DIALECT_GRAPH_KEY

    def _get_aot_intermediate_outputs_and_op_names(
        self, reference_graph_module: GraphModule
    ) -> tuple[dict[DebugHandle, Any], dict[DebugHandle, list[str]]]:
        assert self._etrecord is not None, "the caller asked for a record"
        captured = IntermediateOutputCapturer(reference_graph_module).run_and_capture(
            *self._etrecord._representative_inputs
        )
        return captured, get_aot_debug_handle_to_op_name_mapping(reference_graph_module)

    def _get_aot_debug_handle_to_stack_traces(
        self, reference_graph_module: GraphModule, resolved_graph_name: str
    ) -> dict[DebugHandle, dict[str, str | None]]:
        traces: dict[DebugHandle, dict[str, str | None]] = {}
        by_name = {node.name: node for node in reference_graph_module.graph.nodes}
        for handle, names in get_aot_debug_handle_to_op_name_mapping(
            reference_graph_module
        ).items():
            traces[handle] = {name: by_name[name].meta.get("stack_trace") for name in names}
        return traces

    def _get_runtime_intermediate_outputs_and_op_names(
        self,
    ) -> tuple[dict[DebugHandle, tuple[Any, int]], dict[DebugHandle, list[str]]]:
        values: dict[DebugHandle, tuple[int, Any, int]] = {}
        names: dict[DebugHandle, list[str]] = {}
        for block in self.event_blocks:
            for event in block.events:
                if event.name in EXCLUDED_EVENTS_FOR_INTERMEDIATE_OUTPUT or not event.debug_data:
                    continue
                if event.debug_handles is None or event.name in RESERVED_FRAMEWORK_EVENT_NAMES:
                    continue
                handles = (
                    (event.debug_handles,)
                    if isinstance(event.debug_handles, int)
                    else tuple(event.debug_handles)
                )
                entry = (event._instruction_id or 0, event.debug_data, event.num_outputs)
                names.setdefault(handles, []).append(event.name)
                if handles not in values or values[handles][0] <= entry[0]:
                    values[handles] = entry
        merged = merge_runtime_overlapping_debug_handles(values)
        return {handles: (value, count) for handles, (_, value, count) in merged.items()}, names

    def get_vgf_neural_statistics(self) -> list[dict[str, Any]]:
        """What a VGF delegate measured, of all its events."""
        from executorch.devtools.inspector.vgf_neural_statistics import (
            parse_vgf_neural_statistics_delegate_metadata,
        )

        return [
            parsed
            for block in self.event_blocks
            for event in block.events
            if event.raw_delegate_debug_metadatas
            for parsed in parse_vgf_neural_statistics_delegate_metadata(
                event.raw_delegate_debug_metadatas
            )
        ]


def _counted_once(block: EventBlock) -> list[Event]:
    """The events that share no time with each other."""
    inside = {event._instruction_id for event in block.events if event.is_delegated_op}
    return [
        event
        for event in block.events
        if event.name not in EXCLUDED_EVENTS_WHEN_PRINTING
        and not (event.name == DELEGATE_CALL and event._instruction_id in inside)
    ]


def _record(etrecord: ETRecord | str | None) -> ETRecord | None:
    if etrecord is None or isinstance(etrecord, ETRecord):
        return etrecord
    if isinstance(etrecord, (str, Path)):
        return parse_etrecord(etrecord)
    raise TypeError(
        f"Unsupported ETRecord type: expected an ETRecord or a path, got {type(etrecord).__name__}"
    )


def _has_values(etdump: ETDumpFlatCC) -> bool:
    return any(
        event.debug_event is not None for run in etdump.run_data for event in run.events or ()
    )


def _comparator(distance: str | NumericalComparatorBase) -> NumericalComparatorBase:
    if isinstance(distance, NumericalComparatorBase):
        return distance
    made = _COMPARATORS.get(str(distance).upper())
    if made is None:
        raise ValueError(
            f"Unsupported distance metric {distance!r}: expected {', '.join(_COMPARATORS)}, or a comparator"
        )
    return made()


def _singles(handles: DebugHandle) -> list[DebugHandle]:
    return [(handle,) for handle in handles]
