# SPDX-License-Identifier: BSD-3-Clause
"""Processor seconds of this process, as they would be if nothing that it found had been made before."""

from __future__ import annotations

import os
import time


class Clock:
    """Counts this process with its threads, the processes that it waited for, and what making took that others did."""

    def __init__(self) -> None:
        self.found = 0.0

    def seconds(self) -> float:
        ended = os.times()
        return time.process_time() + ended.children_user + ended.children_system + self.found


CLOCK = Clock()
