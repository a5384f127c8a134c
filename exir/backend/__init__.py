# SPDX-License-Identifier: BSD-3-Clause
"""Delegation: what partitioners and backends implement, and the step that hands parts of a program to them."""
