# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the Java interface on a desktop's JVM."""
