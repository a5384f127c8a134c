// SPDX-License-Identifier: BSD-3-Clause
// The historic spelling exec_aten::X of executorch::aten::X. Other historic names are declared at
// the end of the headers that they are from, each by itself: a name of theirs hides a global one of
// a user's, which a directive would make ambiguous.
#pragma once

#ifdef __cplusplus
namespace executorch {
namespace aten {}
}  // namespace executorch

namespace exec_aten = ::executorch::aten;
#endif
