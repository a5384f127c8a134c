# SPDX-License-Identifier: BSD-3-Clause
"""Programs as graphs in Model Explorer (docs of `visualization_utils`)."""

from executorch.devtools.visualization.visualization_utils import (
    ModelExplorerServer,
    SingletonModelExplorerServer,
    visualize,
    visualize_graph,
    visualize_with_clusters,
)

__all__ = [
    "ModelExplorerServer",
    "SingletonModelExplorerServer",
    "visualize",
    "visualize_graph",
    "visualize_with_clusters",
]
