# SPDX-License-Identifier: BSD-3-Clause
"""Backends of Apple's frameworks, one folder each."""
