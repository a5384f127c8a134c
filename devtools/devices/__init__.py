# SPDX-License-Identifier: BSD-3-Clause
"""Where a program runs: this machine, or a device behind a wire.

Commands take the device of their options and give it jobs:

    with opened(options) as device:
        ran = device.run(Job(Path("model.pte"), "forward", inputs))
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from executorch.devtools.devices.job import Device

LOCAL = "local"


@contextmanager
def opened(options: argparse.Namespace) -> Iterator[Device]:
    """The device of --device and --runner. DeviceError, with the next step, for one that is not there. What is left on
    it at the end: nothing."""
    from executorch.devtools.devices.job import DeviceError

    if options.device == LOCAL:
        from executorch.devtools.devices.here import Here

        if options.runner is not None:
            raise DeviceError("--runner: expected a --device, whose program it is")
        yield Here()
        return
    from executorch.devtools.devices.wires.table import FORMS, WIRES

    where, has_folder, folder = options.device.partition(":/")
    kind, _, rest = where.partition(":")
    if kind not in WIRES:
        raise DeviceError(f"--device {options.device}: expected {LOCAL}, {FORMS}")
    device = WIRES[kind](rest)
    if has_folder:
        device.use_folder(f"/{folder}")
    try:
        device.start(options.runner)
        yield device
    except BaseException as problem:
        # What went wrong first is what the user reads.
        try:
            device.close()
        except DeviceError as left:
            problem.args = (
                (f"{problem}; {left}",) if isinstance(problem, DeviceError) else problem.args
            )
        raise
    device.close()
