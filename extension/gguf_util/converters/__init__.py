# SPDX-License-Identifier: BSD-3-Clause
"""A converter for each architecture."""
