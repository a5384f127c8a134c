# SPDX-License-Identifier: BSD-3-Clause
"""ExecuTorch in browsers and Node."""
