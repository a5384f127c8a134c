# SPDX-License-Identifier: BSD-3-Clause
"""What the HTTP server of language models bears: clients that ask one after the other for some time, each with its own
prompts, half of them streamed. Prints answers, tokens per second, errors, and the server's resident memory. Example:

python -m tools.bench.llm_server model.pte tokenizer.json --clients 16 --seconds 600
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from executorch.tools.measure.processes import ROOT

SUBJECTS = ("rivers", "clocks", "bread", "the moon", "old maps", "bees", "glass", "winter")


@contextmanager
def serving(words: list[str], prefix: list[str]) -> Iterator[tuple[str, int]]:
    """The address and the process id of a server."""
    command = [*prefix, sys.executable, "-m", "executorch.extension.llm.server", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    with tempfile.TemporaryFile("w+") as output:
        server = subprocess.Popen(
            [*command, "--port=0"], env=environment, stdout=subprocess.DEVNULL, stderr=output
        )
        try:
            yield _address(server, output), server.pid
        finally:
            server.terminate()
            server.wait()


def _address(server: subprocess.Popen[bytes], output) -> str:
    while server.poll() is None:
        output.seek(0)
        if found := re.search(r"running on (http://\S+)", output.read()):
            return found[1]
        time.sleep(0.05)
    output.seek(0)
    sys.exit(f"the server ended:\n{output.read()[-2000:]}")


@dataclass
class Load:
    """What clients got until `end`."""

    address: str
    end: float
    tokens: int
    answers: int = 0
    made: int = 0
    errors: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def client(self, number: int) -> None:
        for turn in itertools.count():
            if time.monotonic() >= self.end:
                return
            try:
                made = self.ask(number, turn)
            except (OSError, ValueError, KeyError) as error:
                with self.lock:
                    self.errors.append(f"client {number}, turn {turn}: {error}")
                continue
            with self.lock:
                self.answers += 1
                self.made += made

    def ask(self, number: int, turn: int) -> int:
        """Tokens of one answer."""
        subject = SUBJECTS[(number + turn) % len(SUBJECTS)]
        body = {
            "messages": [{"role": "user", "content": f"{number}: tell me about {subject}"}],
            "max_tokens": self.tokens,
            "seed": turn + 1,
        }
        is_streamed = (number + turn) % 2 == 0
        if is_streamed:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        request = urllib.request.Request(
            f"{self.address}/v1/chat/completions",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=300) as response:
            text = response.read().decode()
        if is_streamed:
            *_, text, done, _ = text.split("\n\n")
            if done != "data: [DONE]":
                raise ValueError(f"expected a whole stream, found the end {done!r}")
            text = text.removeprefix("data: ")
        return json.loads(text)["usage"]["completion_tokens"]


def resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def measure(
    address: str, pid: int, clients: int, seconds: float, tokens: int
) -> tuple[Load, float, list[int]]:
    """The load, its seconds, and bytes resident over time."""
    start = time.monotonic()
    load = Load(address, start + seconds, tokens)
    threads = [threading.Thread(target=load.client, args=(i,)) for i in range(clients)]
    for thread in threads:
        thread.start()
    memory = []
    while any(thread.is_alive() for thread in threads):
        memory.append(resident(pid))
        time.sleep(min(1.0, seconds / 20))
    return load, time.monotonic() - start, memory


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tools.bench.llm_server",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", type=Path)
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--tokens", type=int, default=64, help="of an answer, at most")
    parser.add_argument("--server", type=shlex.split, default=[], help="more words for the server")
    parser.add_argument("--prefix", type=shlex.split, default=[], help="before its command")
    options = parser.parse_args()
    words = ["--model-path", str(options.model), "--tokenizer-path", str(options.tokenizer)]
    print(
        "| clients | answers | errors | tokens/s | resident, MB: first tenth, middle, last tenth |"
    )
    print("| --: | --: | --: | --: | --- |", flush=True)
    with serving([*words, *options.server], options.prefix) as (address, pid):
        for clients in options.clients:
            load, seconds, memory = measure(address, pid, clients, options.seconds, options.tokens)
            tenth = max(len(memory) // 10, 1)
            parts = memory[:tenth], memory[tenth:-tenth] or memory, memory[-tenth:]
            megabytes = ", ".join(f"{max(part) / 1e6:.1f}" for part in parts)
            print(
                f"| {clients} | {load.answers} | {len(load.errors)} | {load.made / seconds:.0f} | {megabytes} |",
                flush=True,
            )
            for error in load.errors[:5]:
                print(error, file=sys.stderr)


if __name__ == "__main__":
    main()
