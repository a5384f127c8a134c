# SPDX-License-Identifier: BSD-3-Clause
"""The compiler: from torch.export programs to planned, emitted ExecuTorch programs."""

if __name__ == "exir":
    from executorch import _alias

    _alias.install("exir")
