# SPDX-License-Identifier: BSD-3-Clause
"""`CadenceETDump`: what a run left in its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from executorch.devtools import Inspector


class CadenceETDump:
    """Reads etdump.etdp, and etrecord.bin and debug_output.bin where they are."""

    def __init__(self, output_dir: str) -> None:
        folder = Path(output_dir)
        events = folder / "etdump.etdp"
        if not events.exists():
            raise RuntimeError(
                f"{events} does not exist: run the program first, by a runner that is built with event tracing"
            )
        record, values = folder / "etrecord.bin", folder / "debug_output.bin"
        self.inspector = Inspector(
            etdump_path=str(events),
            etrecord=str(record) if record.exists() else None,
            debug_buffer_path=str(values) if values.exists() else None,
        )

    def get_execute_event_block(self) -> Any:
        blocks = [each for each in self.inspector.event_blocks if each.name == "Execute"]
        if len(blocks) != 1:
            raise RuntimeError(
                f"one block of events named Execute is expected, found {len(blocks)}"
            )
        return blocks[0]

    def get_outputs(self) -> list[Any]:
        """Of the program."""
        return list(self.get_execute_event_block().run_output)

    def print_event_block(self) -> None:
        self.inspector.print_data_tabular()

    def print_summary(self) -> None:
        """Time in operators, and beside them."""
        events = self.get_execute_event_block().events
        spent = {each.name: sum(each.perf_data.raw) for each in events if each.perf_data}
        total = spent.get("Method::execute", 0)
        inside = sum(time for name, time in spent.items() if name == "OPERATOR_CALL")
        tax = (total - inside) / total * 100 if total else 0
        print(f"Total {total:.3f}  In operators {inside:.3f}  Framework tax {tax:.1f} %")
