# SPDX-License-Identifier: BSD-3-Clause
"""`torch.ops.triton.sdpa`, `sdpa_decode_splitk` and `topk`. Needs Triton."""

from executorch.backends.cuda.triton.kernels.sdpa import sdpa
from executorch.backends.cuda.triton.kernels.sdpa_decode_splitk import sdpa_decode_splitk
from executorch.backends.cuda.triton.kernels.topk import topk

__all__ = ["sdpa", "sdpa_decode_splitk", "topk"]
