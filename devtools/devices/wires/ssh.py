# SPDX-License-Identifier: BSD-3-Clause
"""ssh:HOST - a board or a computer that `ssh HOST` reaches without a question; files go by its standard streams."""

from __future__ import annotations

from executorch.devtools.devices.wires.wire import Wire

_CUT = 255  # what ssh ends with when it is not the command that ended
# Never a question; a wire that is cut is noticed within 15 seconds.
_OPTIONS = ("BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=5", "ServerAliveCountMax=3")


class Ssh(Wire):
    def __init__(self, host: str) -> None:
        self.name = f"ssh:{host}"
        self._host = host
        self.advice = f"`ssh {host} true` has to work without a password or a question (ssh-copy-id, ~/.ssh/config)"

    def command(self, script: str) -> list[str]:
        options = [word for each in _OPTIONS for word in ("-o", each)]
        return ["ssh", "-T", *options, "--", self._host, script]

    def is_cut(self, code: int) -> bool:
        return code == _CUT
