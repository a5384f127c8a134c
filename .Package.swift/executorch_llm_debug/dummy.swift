// SPDX-License-Identifier: BSD-3-Clause
// Made by `python -m executorch.tools.apple package`. The linker takes executorch_llm_debug for this symbol; nothing calls it.
@_silgen_name("executorch_link_text") private func symbol()
@_cdecl("executorch_links_executorch_llm_debug") public func executorch_links_executorch_llm_debug() { symbol() }
