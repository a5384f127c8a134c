# SPDX-License-Identifier: BSD-3-Clause
"""The pass list's name for the step from Python's scalar operations to the runtime's."""

from executorch.exir.passes.replace_sym_size_op_pass import ReplaceSymSizeOpPass


class EdgeToBackendOpsPass(ReplaceSymSizeOpPass):
    """sym_size and scalar arithmetic become operators of the runtime's core."""
