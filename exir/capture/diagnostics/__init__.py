# SPDX-License-Identifier: BSD-3-Clause
"""Why torch.export refuses a model: one finding with the user's line and code to paste, instead of torch's text.

`export_module` is torch.export.export that raises NotExportable, with torch's own error as its cause. causes.py is the
table of what is known; a new cause is a row there and a model in refused_models.py.
"""

from executorch.exir.capture.diagnostics.exporting import export_module
from executorch.exir.capture.diagnostics.finding import Finding, NotExportable

__all__ = ["Finding", "NotExportable", "export_module"]
