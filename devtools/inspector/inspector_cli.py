# SPDX-License-Identifier: BSD-3-Clause
"""The table of a dump, from the command line.

python -m executorch.devtools.inspector.inspector_cli --etdump_path x.etdp --etrecord_path x.etrecord
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

if __package__ in (None, ""):  # run as a file: the package is beside it, or installed
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from executorch.devtools.inspector import Inspector, TimeScale, compare_results


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="inspector_cli", description="Prints what an ETDump recorded."
    )
    scales = [scale.value for scale in TimeScale]
    parser.add_argument("--etdump_path", required=True, help="the dump")
    parser.add_argument("--etrecord_path", help="the record of the model, for its operators")
    parser.add_argument("--debug_buffer_path", help="the values that were recorded")
    parser.add_argument("--source_time_scale", default="ns", choices=scales, help="of the device")
    parser.add_argument("--target_time_scale", default="ms", choices=scales, help="of the table")
    parser.add_argument("--tsv_path", help="file for the table, columns divided by tabs")
    parser.add_argument(
        "--compare_results",
        action="store_true",
        help="compares outputs with the record's reference outputs",
    )
    args = parser.parse_args()
    inspector = Inspector(
        etdump_path=args.etdump_path,
        etrecord=args.etrecord_path,
        debug_buffer_path=args.debug_buffer_path,
        source_time_scale=TimeScale(args.source_time_scale),
        target_time_scale=TimeScale(args.target_time_scale),
    )
    inspector.print_data_tabular()
    if args.tsv_path:
        with open(args.tsv_path, "w") as file:
            inspector.save_data_to_tsv(file)
        print(f"wrote {args.tsv_path}")
    if args.compare_results:
        for block in inspector.event_blocks:
            if block.name == "Execute" and block.run_output and block.reference_output:
                compare_results(block.reference_output, block.run_output, plot=True)


if __name__ == "__main__":
    main()
