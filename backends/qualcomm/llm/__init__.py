# SPDX-License-Identifier: BSD-3-Clause
"""Language models for the NPU: caches outside of the program, every size fixed, quantized by what texts go through."""
