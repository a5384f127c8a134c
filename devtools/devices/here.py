# SPDX-License-Identifier: BSD-3-Clause
"""The device that this process runs on."""

from __future__ import annotations

import platform
import tempfile
import time
from pathlib import Path

from executorch.devtools.costs.machine import processor
from executorch.devtools.devices.job import Job, Ran, Records, Runner
from executorch.runtime import Method, Program, Runtime


class Here:
    """Programs run on the runtime of this package, in this process."""

    name = "local"
    title = "the runtime of this package"
    identity = ""
    is_here = True

    @property
    def processor(self) -> str:
        return processor()

    def describe(self) -> Runner:
        from executorch.extension.pybindings.portable_lib import _threadpool_get_thread_count
        from executorch.version import __version__

        runtime = Runtime.get()
        return Runner(
            __version__,
            platform.machine(),
            platform.system(),
            "",
            True,
            _threadpool_get_thread_count(),
            frozenset(runtime.operator_registry.operator_names),
            frozenset(runtime.backend_registry.registered_backend_names),
        )

    def load(self, job: Job) -> None:
        _loaded(job)

    def run(self, job: Job) -> Ran:
        start = time.perf_counter_ns()
        program, method = _loaded(job)
        load_ns, run_ns = time.perf_counter_ns() - start, []
        for _ in range(job.runs):
            start = time.perf_counter_ns()
            outputs = method.execute(job.inputs)
            run_ns.append(time.perf_counter_ns() - start)
        dump, values = b"", b""
        if job.records is not Records.NOTHING:
            dump, values = _recorded(program, job.records)
        return Ran(list(outputs), load_ns, run_ns, dump=dump, values=values)


def _loaded(job: Job) -> tuple[Program, Method]:
    program = Runtime.get().load_program(
        job.program,
        enable_etdump=job.records is not Records.NOTHING,
        debug_buffer_size=job.value_bytes if job.records is Records.VALUES else 0,
        data_path=job.data,
    )
    method = program.load_method(job.method)
    assert method is not None, "it raises for a method that is not there"
    return program, method


def _recorded(program: Program, records: Records) -> tuple[bytes, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        dump, values = Path(folder) / "dump", Path(folder) / "values"
        has_values = records is Records.VALUES
        program.write_etdump_result_to_file(dump, values if has_values else None)
        return dump.read_bytes(), values.read_bytes() if has_values else b""
