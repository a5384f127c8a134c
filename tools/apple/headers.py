# SPDX-License-Identifier: BSD-3-Clause
"""Headers that go into the frameworks, with the module maps by which Swift and Objective-C find them."""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# The Swift module has the name ExecuTorch; Objective-C's imports name headers.
_MAPS = {
    "executorch/module.modulemap": """module CExecuTorch {
  header "executorch/c/executorch.h"
  export *
}
module ExecuTorchObjC {
  umbrella header "ExecuTorch/ExecuTorch.h"
  export *
}
""",
    "executorch_llm/ExecuTorchLLM/module.modulemap": """module ExecuTorchLLMObjC {
  umbrella header "ExecuTorchLLM.h"
  export *
}
""",
}
_LAYERS = {
    "executorch/ExecuTorch": "extension/apple/ExecuTorch/Exported/*.h",
    "executorch_llm/ExecuTorchLLM": "extension/llm/apple/ExecuTorchLLM/Exported/*.h",
    "executorch/executorch/c": "extension/c/executorch.h",
}


def write_headers(installed: Path, out: Path) -> None:
    """installed: the folder `include` of an installed build, whose C++ headers go into executorch, too."""
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(installed, out / "executorch")
    for folder, pattern in _LAYERS.items():
        (out / folder).mkdir(parents=True, exist_ok=True)
        for header in sorted(ROOT.glob(pattern)):
            shutil.copy(header, out / folder)
    for name, text in _MAPS.items():
        (out / name).write_text(text)
