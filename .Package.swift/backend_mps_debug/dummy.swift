// SPDX-License-Identifier: BSD-3-Clause
// Made by `python -m executorch.tools.apple package`. The linker takes backend_mps_debug for this symbol; nothing calls it.
@_silgen_name("executorch_mpsdelegate") private func symbol()
@_cdecl("executorch_links_backend_mps_debug") public func executorch_links_backend_mps_debug() { symbol() }
