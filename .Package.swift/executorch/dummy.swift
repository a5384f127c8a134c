// SPDX-License-Identifier: BSD-3-Clause
// Made by `python -m executorch.tools.apple package`. The linker takes executorch for this symbol; nothing calls it.
@_silgen_name("executorch_get_api") private func symbol()
@_cdecl("executorch_links_executorch") public func executorch_links_executorch() { symbol() }
