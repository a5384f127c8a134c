# SPDX-License-Identifier: BSD-3-Clause
"""An emitted program to the bytes of its files: the .pte and one data file per external tag."""

from __future__ import annotations

from typing import TYPE_CHECKING

from executorch.exir._serialize._cord import Cord
from executorch.exir._serialize._named_data_store import NamedDataStore, NamedDataStoreOutput
from executorch.exir._serialize._program import PTEFile, serialize_pte_binary
from executorch.exir._serialize.data_serializer import DataEntry, DataPayload, DataSerializer
from executorch.exir.error import internal_assert
from executorch.exir.schema import Program, Tensor, TensorDataLocation
from executorch.exir.tensor_layout import TensorLayout

if TYPE_CHECKING:
    from executorch.exir.capture._config import ExecutorchBackendConfig
    from executorch.exir.emit._emit_program import EmitterOutput


def serialize_for_executorch(
    emitter_output: EmitterOutput,
    config: ExecutorchBackendConfig,
    data_serializer: DataSerializer,
    named_data_store: NamedDataStoreOutput | None = None,
) -> tuple[Cord, dict[str, Cord]]:
    """(program file, data files by tag). Nothing is copied: the cords refer to the weights until
    they are written."""
    store = NamedDataStore()
    _add_external_constants(emitter_output, store)  # a data file has the program's tensors first
    if named_data_store is not None:
        store.merge_named_data_store(named_data_store)
    named = store.get_named_data_store_output()
    program_file = serialize_pte_binary(
        PTEFile(emitter_output.program, emitter_output.mutable_data, named),
        extract_delegate_segments=config.extract_delegate_segments,
        segment_alignment=config.segment_alignment,
        constant_tensor_alignment=config.constant_tensor_alignment,
        delegate_alignment=config.delegate_alignment,
    )
    data_files = {
        tag: data_serializer.serialize(_payload(named.buffers, entries))
        for tag, entries in named.external_data.items()
    }
    return program_file, data_files


def _add_external_constants(emitted: EmitterOutput, store: NamedDataStore) -> None:
    if not emitted.external_constant_map:
        return
    layouts = external_tensor_layouts(emitted.program)
    for tag, names in emitted.external_constant_map.items():
        for name, index in names.items():
            internal_assert(
                name in layouts, f"external constant {name} is no tensor of the program"
            )
            blob = emitted.external_constant_buffer[index]
            store.add_named_data(name, blob, external_tag=tag, tensor_layout=layouts[name])


def external_tensor_layouts(program: Program) -> dict[str, TensorLayout]:
    """Layouts of the tensors that a program takes from data files, by name."""
    layouts = {}
    for plan in program.execution_plan:
        for value in plan.values:
            tensor = value.val
            if not isinstance(tensor, Tensor) or tensor.extra_tensor_info is None:
                continue
            info = tensor.extra_tensor_info
            if info.location == TensorDataLocation.EXTERNAL:
                layout = TensorLayout(tensor.scalar_type, tensor.sizes, tensor.dim_order)
                internal_assert(
                    layouts.setdefault(info.fully_qualified_name, layout) == layout,
                    f"external constant {info.fully_qualified_name} has two layouts",
                )
    return layouts


def _payload(buffers: list[bytes], entries: dict[str, DataEntry]) -> DataPayload:
    """The content of one data file: only the buffers that its keys use."""
    position: dict[int, int] = {}
    named = {}
    for key, entry in entries.items():
        index = position.setdefault(entry.buffer_index, len(position))
        named[key] = DataEntry(index, entry.alignment, entry.tensor_layout)
    return DataPayload([buffers[index] for index in position], named)
