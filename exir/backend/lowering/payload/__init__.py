# SPDX-License-Identifier: BSD-3-Clause
"""What a payload is written with: schemas, frames, constants, options, and the writer that rows are given."""
