// SPDX-License-Identifier: BSD-3-Clause
// Made by `python -m executorch.tools.apple package`. The linker takes backend_xnnpack_debug for this symbol; nothing calls it.
@_silgen_name("executorch_xnnpack_backend") private func symbol()
@_cdecl("executorch_links_backend_xnnpack_debug") public func executorch_links_backend_xnnpack_debug() { symbol() }
