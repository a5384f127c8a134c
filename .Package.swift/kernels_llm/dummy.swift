// SPDX-License-Identifier: BSD-3-Clause
// Made by `python -m executorch.tools.apple package`. The linker takes kernels_llm for this symbol; nothing calls it.
@_silgen_name("_ZN10executorch7kernels19register_custom_opsEv") private func symbol()
@_cdecl("executorch_links_kernels_llm") public func executorch_links_kernels_llm() { symbol() }
