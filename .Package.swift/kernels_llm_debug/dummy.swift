// SPDX-License-Identifier: BSD-3-Clause
// Made by `python -m executorch.tools.apple package`. The linker takes kernels_llm_debug for this symbol; nothing calls it.
@_silgen_name("_ZN10executorch7kernels19register_custom_opsEv") private func symbol()
@_cdecl("executorch_links_kernels_llm_debug") public func executorch_links_kernels_llm_debug() { symbol() }
