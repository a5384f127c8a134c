# SPDX-License-Identifier: BSD-3-Clause
"""Checks of a finished memory plan, for planners that users bring along; our own are checked by tests."""

from __future__ import annotations

from torch.export.graph_signature import ExportGraphSignature
from torch.fx import GraphModule

from executorch.exir.error import InternalError, internal_assert
from executorch.exir.memory_lifetimes import (
    StorageMap,
    input_specs,
    output_specs,
    walk_method,
)
from executorch.exir.tensor import TensorSpec


class Verifier:
    """Checks the plan of one method. The three flags say what the planner was asked to allocate."""

    def __init__(
        self,
        graph_module: GraphModule,
        alloc_graph_input: bool,
        alloc_graph_output: bool,
        alloc_mutable_buffers: bool,
        graph_signature: ExportGraphSignature | None = None,
    ) -> None:
        self.graph_module = graph_module
        self.graph_signature = graph_signature
        self.alloc_graph_input = alloc_graph_input
        self.alloc_graph_output = alloc_graph_output
        self.alloc_mutable_buffers = alloc_mutable_buffers

    @classmethod
    def mem_obj_id_match(
        cls, lhs_spec: TensorSpec, rhs_spec: TensorSpec, accept_both_none: bool = True
    ) -> bool:
        """Whether both are in the same stretch of memory."""
        if lhs_spec.mem_obj_id is None and rhs_spec.mem_obj_id is None:
            return accept_both_none
        return lhs_spec.mem_id == rhs_spec.mem_id and lhs_spec.mem_obj_id == rhs_spec.mem_obj_id

    @classmethod
    def has_overlap(cls, lhs_ivl: list[int], rhs_ivl: list[int]) -> bool:
        """Intervals with both ends included; [None, None] and [3, 1] are empty."""
        if None in lhs_ivl or None in rhs_ivl:
            return False
        if lhs_ivl[0] > lhs_ivl[1] or rhs_ivl[0] > rhs_ivl[1]:
            return False
        return lhs_ivl[0] <= rhs_ivl[1] and rhs_ivl[0] <= lhs_ivl[1]

    @classmethod
    def lifetime_overlap(cls, lhs_spec: TensorSpec, rhs_spec: TensorSpec) -> bool:
        return cls.has_overlap(lhs_spec.lifetime, rhs_spec.lifetime)

    @classmethod
    def storage_overlap(cls, lhs_spec: TensorSpec, rhs_spec: TensorSpec) -> bool:
        for spec in (lhs_spec, rhs_spec):
            internal_assert(spec.mem_offset is not None, f"not planned: {spec.debug()}")
        if lhs_spec.mem_id != rhs_spec.mem_id:
            return False
        return cls.has_overlap(_bytes_of(lhs_spec), _bytes_of(rhs_spec))

    def verify_storage_reuse(self, allow_lifetime_and_storage_overlap: bool = False) -> int:
        """Raises InternalError when two tensors that live together lie on the same bytes; gives the
        number of pairs that share bytes one after the other."""
        storages = self._planned(walk_method(self.graph_module, self.graph_signature))
        storages.sort(key=lambda spec: (spec.mem_id, spec.mem_offset))
        reused = 0
        for index, spec in enumerate(storages):
            for other in storages[index + 1 :]:
                if other.mem_id != spec.mem_id or other.mem_offset > _bytes_of(spec)[1]:
                    break
                if not self.storage_overlap(spec, other):
                    continue
                if not self.lifetime_overlap(spec, other):
                    reused += 1
                elif not allow_lifetime_and_storage_overlap:
                    raise InternalError(
                        "Unexpected storage overlap: two tensors live at the same time on the same bytes:\n"
                        f"{spec.debug()}\n{other.debug()}"
                    )
        return reused

    def verify_graph_input_output(self) -> None:
        """Raises AssertionError when an input, output or mutable buffer has a place that it should
        not have, or lacks one."""
        storages = walk_method(self.graph_module, self.graph_signature)
        inputs, buffers = input_specs(self.graph_module, self.graph_signature)
        own = {*inputs, *buffers}
        outputs = [
            spec
            for spec in output_specs(self.graph_module)
            if spec not in own and spec not in storages.viewed and storages.root(spec) is spec
        ]
        groups = (
            ("graph input", inputs, self.alloc_graph_input),
            ("mutable buffer", buffers, self.alloc_mutable_buffers),
            ("graph output", outputs, self.alloc_graph_output),
        )
        for what, specs, wanted in groups:
            for spec in specs:
                allocated = spec.mem_offset is not None
                if not spec.const and allocated != wanted:
                    state = "has a place" if allocated else "has no place"
                    raise AssertionError(
                        f"Misallocate {what}: {allocated} v.s. {wanted}; it {state}: {spec.debug()}"
                    )

    @staticmethod
    def _planned(storages: StorageMap) -> list[TensorSpec]:
        return [spec for spec in storages.roots if spec.mem_offset is not None and spec.nbytes()]


def _bytes_of(spec: TensorSpec) -> list[int]:
    return [spec.mem_offset, spec.mem_offset + spec.allocated_memory - 1]
