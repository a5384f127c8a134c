# SPDX-License-Identifier: BSD-3-Clause
"""Short forms of the export steps."""

from executorch.extension.export_util.utils import (
    export_to_edge,
    export_to_exec_prog,
    save_pte_program,
)

__all__ = ["export_to_edge", "export_to_exec_prog", "save_pte_program"]
