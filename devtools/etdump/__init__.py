# SPDX-License-Identifier: BSD-3-Clause
"""ETDump: what the runtime recorded of a run, as dataclasses and as bytes."""
