# SPDX-License-Identifier: BSD-3-Clause
"""--device ssh:HOST by a real server on this machine, with keys and a port of its own; skipped without sshd."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from executorch.cli import main
from executorch.exir import to_edge
from executorch.test.e2e.build_tree import binary

SSHD = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(SSHD is None, reason="needs sshd (openssh-server)"),
]
_SERVER = """Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile none
StrictModes no
UsePAM no
"""
_CLIENT = """Host board
  HostName 127.0.0.1
  Port {port}
  User {user}
  IdentityFile {folder}/user
  IdentitiesOnly yes
  UserKnownHostsFile /dev/null
  StrictHostKeyChecking no
  LogLevel ERROR
"""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[subprocess.Popen[bytes]]:
    """A server that `ssh board` reaches."""
    assert SSHD is not None
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name in ("host", "user"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / name], check=True
        )
    known = {"folder": tmp_path, "port": port, "user": getpass.getuser()}
    (tmp_path / "server").write_text(_SERVER.format(**known))
    (tmp_path / "client").write_text(_CLIENT.format(**known))
    (tmp_path / "bin").mkdir()
    ssh = tmp_path / "bin" / "ssh"
    ssh.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {tmp_path}/client "$@"\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", str(ssh.parent), prepend=":")
    separation = Path("/run/sshd")  # what a server of the superuser wants
    is_made = os.geteuid() == 0 and not separation.exists()
    if is_made:
        separation.mkdir()
    process = subprocess.Popen(
        [SSHD, "-D", "-e", "-f", tmp_path / "server"], start_new_session=True
    )
    until = time.monotonic() + 10
    while subprocess.run(["ssh", "board", "true"], check=False).returncode:
        assert time.monotonic() < until and process.poll() is None
        time.sleep(0.1)
    yield process
    process.kill()
    process.wait()
    if is_made:
        separation.rmdir()


@pytest.fixture
def program(tmp_path: Path) -> Path:
    class Twice(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

    path = tmp_path / "twice.pte"
    to_edge(torch.export.export(Twice(), (torch.ones(2, 3),))).to_executorch().save(str(path))
    np.save(tmp_path / "x.npy", np.arange(6, dtype=np.float32).reshape(2, 3))
    (tmp_path / "room").mkdir()
    return path


def words(program: Path) -> list[str]:
    room = program.parent / "room"
    return [
        str(program),
        "--device",
        f"ssh:board:{room}",
        "--runner",
        str(binary("executor_runner")),
    ]


def test_a_run_over_ssh(server: subprocess.Popen[bytes], program: Path, tmp_path: Path) -> None:
    more = ["--inputs", str(tmp_path / "x.npy"), "--output", str(tmp_path / "y.npz")]
    assert main.main(["run", *words(program), *more]) == main.DONE
    with np.load(tmp_path / "y.npz") as file:
        np.testing.assert_array_equal(
            file["arr_0"] if "arr_0" in file else file[file.files[0]], [[0, 2, 4], [6, 8, 10]]
        )
    assert list((tmp_path / "room").iterdir()) == []


def test_the_server_dies_in_the_middle(
    server: subprocess.Popen[bytes],
    program: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With its sessions, while turns are measured."""
    killer = subprocess.Popen(
        [
            "sh",
            "-c",
            f'until [ -n "$(ls {tmp_path}/room/*/*.pte 2>/dev/null)" ]; do sleep 0.1; done; '
            f"kill -KILL -{server.pid} $(ps -o pid= --ppid {server.pid})",
        ]
    )
    assert main.main(["bench", *words(program), "--rounds", "5000"]) == main.FAILED
    killer.wait()
    message = capsys.readouterr().err
    assert "ssh:board: the connection broke while" in message
    until = time.monotonic() + 20
    while list((tmp_path / "room").iterdir()) and time.monotonic() < until:
        time.sleep(0.1)
    assert list((tmp_path / "room").iterdir()) == []
