# SPDX-License-Identifier: BSD-3-Clause
"""Tests of exir.capture.diagnostics."""
