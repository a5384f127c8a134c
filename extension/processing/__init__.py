# SPDX-License-Identifier: BSD-3-Clause
"""Steps before and after a model that stand in its program: a picture goes in, labels come out (see README.md)."""

from executorch._lazy import lazy_names

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Processing": "steps",
        "STEPS": "steps",
        "Carried": "carried",
        "carried_by": "carried",
        "Processed": "processed",
    },
)
