# SPDX-License-Identifier: BSD-3-Clause
"""Programs of the edge dialect as bytes and back: PyTorch's serializer, taught our operators and delegates."""
