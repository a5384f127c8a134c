# SPDX-License-Identifier: BSD-3-Clause
"""Programs that stand for ssh and adb: what they are asked to do happens on this machine, in a folder that is the
device's. A file beside them changes what happens:

    unreachable   no connection is made
    cut           holds a word: a command with it ends in the middle, with all connections, and none is made any more
    full          nothing can be written; outputs: nothing but what is pushed
    machine       what `uname -m` says
    noexec        no program of its folder may run
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

_PROGRAM = """#!{python} -ESI
import os, signal, subprocess, sys
from pathlib import Path

here = Path({here!r})
name, words = Path(sys.argv[0]).name, sys.argv[1:]
NOT_THERE = {{
    "ssh": (255, "ssh: connect to host board port 22: No route to host"),
    "adb": (1, "adb: device 'ABC' not found"),
}}

def ended(code, text):
    print(text, file=sys.stderr)
    sys.exit(code)

def has(file):
    return (here / file).exists()

def on_device(script, stdin=subprocess.PIPE):
    with (here / "asked").open("a") as file:
        print(script, file=file)
    if has("cut") and (here / "cut").read_text() in script:
        (here / "unreachable").touch()
        for pid in (here / "connections").iterdir():
            if int(pid.name) != os.getpid():
                os.kill(int(pid.name), signal.SIGKILL)
        ended(*NOT_THERE[name])
    if has("machine"):
        script = f"uname() {{{{ echo {{(here / 'machine').read_text()}}; }}}}; {{script}}"
    if has("noexec"):
        script = script.replace("chmod 755", "chmod 644")
    if has("full"):
        script = script.replace("cat > ", "cat > /dev/full # ")
    if has("outputs"):
        script = script.replace("--model_path", "--output_file=out --model_path", 1)
        script = script.replace("./executor_runner --output", "ln -s /dev/full out-0.bin; ./executor_runner --output")
    child = subprocess.Popen(["sh", "-c", script], stdin=stdin)
    if stdin is subprocess.PIPE:
        try:
            while piece := os.read(0, 1 << 16):
                os.write(child.stdin.fileno(), piece)
        except BrokenPipeError:
            pass
        child.stdin.close()
    code = child.wait()
    connection.unlink()
    sys.exit(code)

if has("unreachable"):
    ended(*NOT_THERE[name])
connection = here / "connections" / str(os.getpid())
connection.touch()
if name == "ssh":
    _, script = words[words.index("--") + 1:]
    on_device(script)
if words[0] == "-s":
    if words[1] != "ABC":
        ended(1, f"adb: device {{words[1]!r}} not found")
    words = words[2:]
if words[0] == "shell":
    on_device(words[1])
if words[0] == "get-state":
    connection.unlink()
    print("device")
elif words[0] == "push":
    target = "/dev/full" if has("full") else words[2]
    on_device(f"cat '{{words[1]}}' > '{{target}}'")
elif words[0] == "pull":
    on_device(f"cat '{{words[1]}}' > '{{words[2]}}'")
"""


@dataclass(frozen=True)
class StandIns:
    """`programs`: to be put on PATH; `folder`: what the device has room in."""

    programs: Path
    folder: Path

    @staticmethod
    def made(folder: Path) -> StandIns:
        programs, of_device = folder / "bin", folder / "device"
        programs.mkdir()
        of_device.mkdir()
        (programs / "connections").mkdir()
        for name in ("ssh", "adb"):
            text = _PROGRAM.format(python=sys.executable, here=str(programs))
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)
        return StandIns(programs, of_device)

    def say(self, what: str, text: str = "") -> None:
        (self.programs / what).write_text(text)

    @property
    def asked(self) -> list[str]:
        """The lines of shell that it ran."""
        return (self.programs / "asked").read_text().splitlines()

    @property
    def left(self) -> list[str]:
        """What is on the device."""
        return [each.name for each in self.folder.iterdir()]
