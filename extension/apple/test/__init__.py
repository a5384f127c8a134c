# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the Swift and Objective-C layers."""
