# SPDX-License-Identifier: BSD-3-Clause
"""Examples of training on the device."""
