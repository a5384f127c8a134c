# SPDX-License-Identifier: BSD-3-Clause
"""The dtypes of values and weights on the NPU."""
