# SPDX-License-Identifier: BSD-3-Clause
"""The quantizer of linear layers."""
