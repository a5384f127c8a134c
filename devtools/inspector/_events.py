# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of events as users see them: one Event for all runs that did the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from executorch.devtools.debug_format.base_schema import OperatorNode
from executorch.devtools.etdump import schema_flatcc as flatcc
from executorch.devtools.etdump.schema_flatcc import (
    DebugEvent,
    ETDumpFlatCC,
    ProfileEvent,
    is_debug_output,
)
from executorch.devtools.inspector._lookup import at_instruction
from executorch.devtools.inspector._time_scale import TimeScale, calculate_time_scale_factor

if TYPE_CHECKING:  # times alone need neither torch nor pandas
    import pandas as pd

    from executorch.devtools.inspector._values import ProgramOutput

RESERVED_FRAMEWORK_EVENT_NAMES = ["Method::init", "Program::load_method", "Method::execute"]
STATISTICS = ("p10", "p50", "p90", "avg", "min", "max")
_IN_BUFFER = (flatcc.ValueType.TENSOR.value, flatcc.ValueType.TENSOR_LIST.value)
_CLOCK_END = 2**32 - 1  # of clocks that count in 32 bits
MetadataParser: TypeAlias = Callable[[list[Any]], Any]
TimeConverter: TypeAlias = Callable[[int | str, int | float], int | float]


def find_populated_event(event: flatcc.Event) -> ProfileEvent | DebugEvent:
    """The part of an event that is there. Raises ValueError for an allocation, or an empty event."""
    found = event.profile_event or event.debug_event
    if found is None:
        raise ValueError("Unable to find populated event")
    return found


@dataclass(frozen=True, order=True)
class InstructionEventSignature:
    """Which instruction, and which part of a delegate."""

    instruction_id: int
    chain_index: int
    delegate_id: int | None = None
    delegate_id_str: str | None = None


@dataclass
class InstructionEvent:
    """All that one run recorded of an instruction, or of one part of a delegate."""

    signature: InstructionEventSignature
    profile_events: list[ProfileEvent] | None = None
    debug_events: list[DebugEvent] | None = None

    @staticmethod
    def gen_from_events(run_events: list[flatcc.Event]) -> list[InstructionEvent]:
        """In the order of first appearance. Allocations and outputs of the program are left out."""
        found: dict[InstructionEventSignature, InstructionEvent] = {}
        for event in run_events:
            if event.profile_event is None and event.debug_event is None:
                continue
            part = find_populated_event(event)
            if isinstance(part, DebugEvent) and is_debug_output(part.debug_entry):
                continue
            number = part.delegate_debug_id_int
            signature = InstructionEventSignature(
                part.instruction_id,
                part.chain_index,
                None if number == -1 else number,
                part.delegate_debug_id_str or None,
            )
            made = found.setdefault(signature, InstructionEvent(signature))
            if isinstance(part, ProfileEvent):
                made.profile_events = [*(made.profile_events or ()), part]
            else:
                made.debug_events = [*(made.debug_events or ()), part]
        return list(found.values())


@dataclass(frozen=True, order=True)
class ProfileEventSignature:
    name: str
    instruction_id: int | None
    delegate_id: int | None = None
    delegate_id_str: str | None = None


@dataclass(frozen=True, order=True)
class DebugEventSignature:
    name: str = ""
    instruction_id: int | None = -1
    delegate_id: int | None = None
    delegate_id_str: str | None = None


@dataclass(frozen=True, order=True)
class EventSignature:
    """What makes events of several runs one event."""

    instruction_id: int
    profile_event_signature: ProfileEventSignature | None = None
    debug_event_signature: DebugEventSignature | None = None

    @staticmethod
    def gen_from_instruction_event(
        instruction_event: InstructionEvent,
    ) -> list[tuple[EventSignature, InstructionEvent]]:
        """One signature for each name of its times; one without times when there are values alone."""
        key = instruction_event.signature
        ids = (key.instruction_id, key.delegate_id, key.delegate_id_str)
        values = instruction_event.debug_events
        debug = DebugEventSignature(values[0].name or "", *ids) if values else None
        names = dict.fromkeys(event.name or "" for event in instruction_event.profile_events or ())
        if not names:
            return [(EventSignature(key.instruction_id, None, debug), instruction_event)]
        return [
            (
                EventSignature(key.instruction_id, ProfileEventSignature(name, *ids), debug),
                InstructionEvent(
                    key,
                    [e for e in instruction_event.profile_events or () if (e.name or "") == name],
                    instruction_event.debug_events,
                ),
            )
            for name in names
        ]


@dataclass
class PerfData:
    """`raw`: the time of each run, in the target's unit."""

    raw: list[float]

    def __init__(self, raw: list[float]) -> None:
        self.raw = raw

    @property
    def p10(self) -> float:
        return float(np.percentile(self.raw, 10))

    @property
    def p50(self) -> float:
        return float(np.percentile(self.raw, 50))

    @property
    def p90(self) -> float:
        return float(np.percentile(self.raw, 90))

    @property
    def avg(self) -> float:
        return float(np.mean(self.raw))

    @property
    def min(self) -> float:
        return float(np.min(self.raw))

    @property
    def max(self) -> float:
        return float(np.max(self.raw))


@dataclass
class Event:
    """What an operator, a part of a delegate or the runtime itself did, over all runs of a block.

    `perf_data`: None when only values were recorded. `debug_data`: the values, equal in all runs. With an ETRecord:
    `debug_handles`, `op_types`, `stack_traces` and `module_hierarchy` (by node of the edge program)."""

    name: str
    perf_data: PerfData | None = None
    op_types: list[str] = field(default_factory=list)
    delegate_debug_identifier: int | str | None = None
    debug_handles: int | Sequence[int] | None = None
    num_outputs: int = 1
    stack_traces: dict[str, str] = field(default_factory=dict)
    module_hierarchy: dict[str, dict[str, Any]] = field(default_factory=dict)
    is_delegated_op: bool | None = None
    delegate_backend_name: str | None = None
    _delegate_debug_metadatas: list[Any] = field(default_factory=list)
    debug_data: ProgramOutput = field(default_factory=list)
    _instruction_id: int | None = None
    _delegate_metadata_parser: MetadataParser | None = None
    _delegate_time_scale_converter: TimeConverter | None = None
    _start_time: list[int | float] | None = None

    @property
    def raw_delegate_debug_metadatas(self) -> list[Any]:
        """The delegate's own bytes, one per run."""
        return self._delegate_debug_metadatas

    @property
    def delegate_debug_metadatas(self) -> Any:
        """What the parser makes of them; the bytes themselves without one."""
        if not self.is_delegated_op or self._delegate_metadata_parser is None:
            return self._delegate_debug_metadatas
        return self._delegate_metadata_parser(self._delegate_debug_metadatas)

    @property
    def start_time(self) -> list[int | float] | None:
        """In ticks of the device, one per run."""
        return self._start_time

    def asdict(self, _units: str = "") -> dict[str, Any]:
        """One row of the table; times have `_units` behind their name."""

        def of(name: str) -> float | None:
            return getattr(self.perf_data, name) if self.perf_data is not None else None

        return {
            "event_name": self.name,
            "raw": of("raw"),
            **{f"{name}{_units}": of(name) for name in STATISTICS},
            "op_types": self.op_types,
            "delegate_debug_identifier": self.delegate_debug_identifier,
            "stack_traces": self.stack_traces,
            "module_hierarchy": self.module_hierarchy,
            "is_delegated_op": self.is_delegated_op,
            "delegate_backend_name": self.delegate_backend_name,
            "debug_data": self.debug_data,
            "start_time": self._start_time,
        }

    def to_dataframe(self, _units: str = "") -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame({key: [value] for key, value in self.asdict(_units).items()})

    @staticmethod
    def _gen_from_inference_events(
        signature: EventSignature,
        events: list[InstructionEvent],
        scale_factor: float = 1.0,
        output_buffer: bytes | None = None,
        delegate_metadata_parser: MetadataParser | None = None,
        delegate_time_scale_converter: TimeConverter | None = None,
    ) -> Event:
        named = signature.profile_event_signature or signature.debug_event_signature
        assert named is not None, "an event has times or values"
        identifier = named.delegate_id if named.delegate_id is not None else named.delegate_id_str
        made = Event(
            name=named.name if identifier is None else str(identifier),
            delegate_debug_identifier=identifier,
            is_delegated_op=identifier is not None,
            _instruction_id=named.instruction_id,
            _delegate_metadata_parser=delegate_metadata_parser,
            _delegate_time_scale_converter=delegate_time_scale_converter,
        )
        if signature.profile_event_signature is not None:
            made._add_times(events, scale_factor)
        if signature.debug_event_signature is not None:
            made._add_values(events, output_buffer)
        return made

    def _add_times(self, runs: list[InstructionEvent], scale_factor: float) -> None:
        """An instruction that a loop runs again and again has the time of all its turns."""
        raw, starts = [], []
        for run in runs:
            events = run.profile_events or []
            raw.append(sum(self._duration(event, scale_factor) for event in events))
            starts.append(events[0].start_time)
            if events[-1].delegate_debug_metadata:
                self._delegate_debug_metadatas.append(events[-1].delegate_debug_metadata)
        self.perf_data = PerfData(raw)
        self._start_time = starts

    def _duration(self, event: ProfileEvent, scale_factor: float) -> float:
        if self.is_delegated_op and self._delegate_time_scale_converter is not None:
            convert, name = self._delegate_time_scale_converter, self.name
            return convert(name, event.end_time) - convert(name, event.start_time)
        return self._calculate_elapsed_time(event.start_time, event.end_time) / scale_factor

    @staticmethod
    def _calculate_elapsed_time(start_time: int, end_time: int) -> int:
        """In ticks; clocks of 32 bits may have begun again in between."""
        if start_time > end_time:
            return _CLOCK_END - start_time + end_time
        return end_time - start_time

    def _add_values(self, runs: list[InstructionEvent], output_buffer: bytes | None) -> None:
        """Those of the first run; the others must be equal."""
        for run in runs:
            values = _inflated((e.debug_entry for e in run.debug_events or ()), output_buffer)
            if self.debug_data:
                _verify_equal(self.debug_data, values)
            else:
                self.debug_data = values

    def _associate_with_op_graph_nodes(
        self, debug_handle_to_op_node_map: Mapping[int, list[OperatorNode]]
    ) -> None:
        handles = self.debug_handles
        if handles is None:
            return
        for handle in [handles] if isinstance(handles, int) else handles:
            for node in debug_handle_to_op_node_map.get(handle, ()):
                metadata = node.metadata or {}
                self.op_types.append(node.op or "")
                self.stack_traces[node.name] = metadata.get("stack_trace")
                self.module_hierarchy[node.name] = metadata.get("nn_module_stack")


def _inflated(entries: Iterable[flatcc.Value], output_buffer: bytes | None) -> ProgramOutput:
    """Nothing where a tensor is among them and its bytes are not known."""
    listed = list(entries)
    if output_buffer is None and any(each.val in _IN_BUFFER for each in listed):
        return []
    if not listed:
        return []
    from executorch.devtools.inspector._values import inflate_runtime_output

    return [inflate_runtime_output(each, output_buffer) for each in listed]


def _verify_equal(existing: ProgramOutput, new: ProgramOutput) -> None:
    from executorch.devtools.inspector._values import verify_debug_data_equivalence

    verify_debug_data_equivalence(existing, new)


@dataclass
class EventBlock:
    """Runs that did the same: the events of one name of block, one bundled input, with equal outputs."""

    name: str
    events: list[Event] = field(default_factory=list)
    source_time_scale: TimeScale = TimeScale.NS
    target_time_scale: TimeScale = TimeScale.MS
    bundled_input_index: int | None = None
    run_output: ProgramOutput | None = None
    reference_output: ProgramOutput | None = None

    def to_dataframe(
        self, include_units: bool = False, include_delegate_debug_data: bool = False
    ) -> pd.DataFrame:
        """One row per event; with `include_delegate_debug_data` what the delegate's parser gave, one column per key."""
        import pandas as pd

        units = f" ({self.target_time_scale.value})" if include_units else ""
        rows = []
        for event in self.events:
            row = {"event_block_name": self.name, **event.asdict(units)}
            if include_delegate_debug_data:
                row.update(_metadata_columns(event))
            rows.append(row)
        columns = {key: None for row in rows for key in row} or ["event_block_name"]
        # object: what is absent stays None
        table = pd.DataFrame(rows, columns=list(columns), dtype=object)
        for name in STATISTICS:
            if f"{name}{units}" in table:
                table[f"{name}{units}"] = table[f"{name}{units}"].astype(float)
        return table

    @staticmethod
    def _gen_from_etdump(
        etdump: ETDumpFlatCC,
        source_time_scale: TimeScale = TimeScale.NS,
        target_time_scale: TimeScale = TimeScale.MS,
        output_buffer: bytes | None = None,
        delegate_metadata_parser: MetadataParser | None = None,
        delegate_time_scale_converter: TimeConverter | None = None,
    ) -> list[EventBlock]:
        factor = calculate_time_scale_factor(source_time_scale, target_time_scale)
        grouped: dict[Any, dict[EventSignature, list[InstructionEvent]]] = {}
        outputs: dict[Any, ProgramOutput] = {}
        for run in etdump.run_data:
            found = [
                pair
                for event in InstructionEvent.gen_from_events(run.events or [])
                for pair in EventSignature.gen_from_instruction_event(event)
            ]
            key = (run.name, tuple(signature for signature, _ in found), run.bundled_input_index)
            events = grouped.setdefault(key, {})
            for signature, event in found:
                events.setdefault(signature, []).append(event)
            output = EventBlock._collect_run_outputs(run.events or [], output_buffer)
            if outputs.setdefault(key, output):
                _verify_equal(outputs[key], output)
        return [
            EventBlock(
                name=name,
                events=[
                    Event._gen_from_inference_events(
                        signature,
                        found,
                        factor,
                        output_buffer,
                        delegate_metadata_parser,
                        delegate_time_scale_converter,
                    )
                    for signature, found in events.items()
                ],
                source_time_scale=source_time_scale,
                target_time_scale=target_time_scale,
                bundled_input_index=index,
                run_output=outputs[name, signatures, index],
            )
            for (name, signatures, index), events in grouped.items()
        ]

    @staticmethod
    def _collect_run_outputs(
        events: Iterable[flatcc.Event], output_buffer: bytes | None = None
    ) -> ProgramOutput:
        entries = (e.debug_event.debug_entry for e in events if e.debug_event is not None)
        return _inflated(filter(is_debug_output, entries), output_buffer)

    def _gen_resolve_debug_handles(
        self,
        handle_map: Mapping[Any, Any],
        delegate_map: Mapping[Any, Any] | None = None,
        instruction_id_to_num_outs_map: Mapping[Any, int] | None = None,
    ) -> None:
        """Gives each event the debug handles of its instruction; parts of a delegate those that the delegate names."""
        for event in self.events:
            if event.name in RESERVED_FRAMEWORK_EVENT_NAMES:
                continue
            instruction = event._instruction_id
            outputs = at_instruction(instruction_id_to_num_outs_map, instruction)
            event.num_outputs = outputs if outputs is not None else 1
            delegate = at_instruction(delegate_map, instruction)
            if event.delegate_debug_identifier is None:
                event.debug_handles = at_instruction(handle_map, instruction)
            elif delegate is not None:
                event.delegate_backend_name = delegate["name"]
                event.debug_handles = _delegated_handles(
                    delegate.get("delegate_map") or {}, event.delegate_debug_identifier
                )


def _delegated_handles(delegate_map: Mapping[Any, Any], identifier: int | str) -> Any:
    """By the identifier, by its text, or by all in it: "conv #3 [7] [8]" belongs to "[7]" and to
    operator_key(8)."""
    for key in (identifier, str(identifier)):
        if key in delegate_map:
            return delegate_map[key]
    found = [
        handle
        for key, handles in delegate_map.items()
        if isinstance(key, str) and _first_word(key) in str(identifier)
        for handle in handles
    ]
    return tuple(dict.fromkeys(found)) or None


def _first_word(key: str) -> str:
    """Of keys of operator_key (exir/backend/payload.py); other keys as they are."""
    return key.partition(" ")[0] if key.startswith("[") else key


def _metadata_columns(event: Event) -> dict[str, Any]:
    parsed = event.delegate_debug_metadatas
    if isinstance(parsed, Mapping):
        return dict(parsed)
    return {"delegate_debug_metadata": parsed}
