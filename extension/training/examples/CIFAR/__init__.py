# SPDX-License-Identifier: BSD-3-Clause
"""A small network for 32 x 32 images, trained in PyTorch and on the runtime side by side."""
