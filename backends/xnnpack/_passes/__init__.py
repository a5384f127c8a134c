# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Passes over edge programs that bring them into the form of XNNPACK's nodes, each usable by itself.

`XnnpackBackend` does not run them: it reads the same patterns as they are (aot/steps.py), which takes no rewriting.
They are for programs that are looked at or changed between `to_edge` and a delegate of one's own.
"""

from __future__ import annotations

import inspect

from torch.export import ExportedProgram

from executorch.backends.transforms.remove_clone_ops import RemoveCloneOpsTransform
from executorch.backends.transforms.remove_getitem_op import RemoveGetItemPass
from executorch.backends.xnnpack._passes.convert_to_linear import ConvertToLinearPass
from executorch.backends.xnnpack._passes.decompose_batch_norm import DecomposeBatchNorm
from executorch.backends.xnnpack._passes.decompose_cat import DecomposeConcatenate
from executorch.backends.xnnpack._passes.fuse_activation_pass import FuseActivationPass
from executorch.backends.xnnpack._passes.fuse_batch_norm import FuseBatchNormPass
from executorch.backends.xnnpack._passes.propagate_custom_meta_pass import PropagateCustomMetaPass
from executorch.backends.xnnpack._passes.remove_redundant_copy_pass import RemoveRedundantCopyPass
from executorch.backends.xnnpack._passes.xnnpack_pass import XNNPACKPass
from executorch.exir.pass_base import ExportPass
from executorch.exir.program._programs import apply_passes
from executorch.exir.program_copies import own_copy


class XNNPACKPassManager:
    """Runs classes of passes in order; those that are `XNNPACKPass` get the program."""

    def __init__(
        self, exported_program: ExportedProgram, passes: list[type[ExportPass]] | None = None
    ) -> None:
        self._exported_program = exported_program
        self.passes = list(DEFAULT_PASSES if passes is None else passes)

    @property
    def exported_program(self) -> ExportedProgram:
        return self._exported_program

    def transform(self) -> ExportedProgram:
        """A new program; the given one stays as it is."""
        program = own_copy(self._exported_program)
        for one in self.passes:
            if not inspect.isclass(one) or not issubclass(one, ExportPass):
                raise RuntimeError(f"Expecting ExportPass or its subclass, found {one!r}")
            made = one(program) if issubclass(one, XNNPACKPass) else one()
            program = apply_passes(program, [made])
        return program


DEFAULT_PASSES: list[type[ExportPass]] = [
    RemoveCloneOpsTransform,  # before patterns are looked for
    ConvertToLinearPass,
    PropagateCustomMetaPass,
    FuseBatchNormPass,
    DecomposeBatchNorm,  # those that found no convolution
    FuseActivationPass,  # after batch norms, which stand between
    DecomposeConcatenate,
    RemoveGetItemPass,
    RemoveRedundantCopyPass,
]

__all__ = ["DEFAULT_PASSES", "FuseBatchNormPass", "XNNPACKPass", "XNNPACKPassManager"]
