# SPDX-License-Identifier: BSD-3-Clause
"""Programs to files and back. The formats are handled by the native module; here is what goes into
which segment."""

from executorch.exir._serialize._program import PTEFile as _PTEFile
from executorch.exir._serialize._program import (
    deserialize_pte_binary as _deserialize_pte_binary,
)
from executorch.exir._serialize._program import serialize_pte_binary as _serialize_pte_binary

__all__ = ["_PTEFile", "_deserialize_pte_binary", "_serialize_pte_binary"]
