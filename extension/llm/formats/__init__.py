# SPDX-License-Identifier: BSD-3-Clause
"""How weights in few bits are held: the floor below checkpoints, quantization and operators."""
