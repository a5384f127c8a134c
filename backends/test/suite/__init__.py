# SPDX-License-Identifier: BSD-3-Clause
"""One set of models and operators for all backends: a test is written once and runs on every flow.

`pytest backends/test/suite -k xnnpack` runs those of one backend, as does
`python -m executorch.backends.test.suite.runner operators --backend xnnpack`.
"""

import torch


def dtype_to_str(dtype: torch.dtype) -> str:
    """`float32` for torch.float32."""
    return str(dtype).removeprefix("torch.")
