// SPDX-License-Identifier: BSD-3-Clause
// Made by `python -m executorch.tools.apple package`. The linker takes backend_coreml for this symbol; nothing calls it.
@_silgen_name("executorch_coremldelegate") private func symbol()
@_cdecl("executorch_links_backend_coreml") public func executorch_links_backend_coreml() { symbol() }
