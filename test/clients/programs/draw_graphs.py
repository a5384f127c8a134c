# SPDX-License-Identifier: BSD-3-Clause
"""What Model Explorer's adapter sees in a file: its graphs, delegates' among them, and the labels of their nodes."""

import json
import sys

from pte_adapter_model_explorer.main import PTEAdapter

graphs = {
    graph.id: sorted({node.label for node in graph.nodes})
    for collection in PTEAdapter().convert(sys.argv[1], {})["graphCollections"]
    for graph in collection.graphs
}
print(json.dumps(graphs))
