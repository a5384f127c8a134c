# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Names for what a graph's values are described by."""

from typing import List, Tuple, Union  # noqa: UP035  (aliases that users subscript and compare)

from executorch.exir.tensor import TensorSpec

ScalarSpec = Union[int, float]  # noqa: UP007
LeafValueSpec = Union[TensorSpec, ScalarSpec]  # noqa: UP007
ValueSpec = Union[LeafValueSpec, List["ValueSpec"], Tuple["ValueSpec", ...]]  # noqa: UP006, UP007
