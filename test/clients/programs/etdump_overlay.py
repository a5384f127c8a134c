# SPDX-License-Identifier: BSD-3-Clause
"""What Model Explorer shows of a record, and of the dump of its run: labels of nodes, and how many have a time."""

import json
import sys

from etdump_data_provider_model_explorer.provider import ETDumpProfilingOverlayProvider
from etrecord_adapter_model_explorer.main import ETRecordAdapter

record, dump = sys.argv[1:3]
seen = {"labels": set(), "timed": 0, "errors": []}
for collection in ETRecordAdapter().convert(record, {})["graphCollections"]:
    for graph in collection.graphs:
        seen["labels"] |= {node.label for node in graph.nodes}
        found = ETDumpProfilingOverlayProvider().run(
            "", record, graph.id, {"etdump_path": dump}, graph
        )
        if found.error:
            seen["errors"].append(found.error)
        for data in found.result or []:
            seen["timed"] = max(seen["timed"], len(data.results))
print(json.dumps(seen | {"labels": sorted(seen["labels"])}))
