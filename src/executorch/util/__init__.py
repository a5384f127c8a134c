# SPDX-License-Identifier: BSD-3-Clause
"""What the documents import from `executorch.util`; it lives elsewhere."""
