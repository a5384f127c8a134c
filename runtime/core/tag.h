// SPDX-License-Identifier: BSD-3-Clause
// Tag: what an EValue holds.
#pragma once

#include <executorch/runtime/core/defines.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/historic_namespaces.h>

#include <cstddef>
#include <cstdint>

namespace executorch {
namespace runtime {

#define EXECUTORCH_FORALL_TAGS(_) \
  _(None)                         \
  _(Tensor)                       \
  _(String)                       \
  _(Double)                       \
  _(Int)                          \
  _(Bool)                         \
  _(ListBool)                     \
  _(ListDouble)                   \
  _(ListInt)                      \
  _(ListTensor)                   \
  _(ListScalar)                   \
  _(ListOptionalTensor)

enum class Tag : uint32_t {
#define DEFINE_TAG(x) x,
  EXECUTORCH_FORALL_TAGS(DEFINE_TAG)
#undef DEFINE_TAG
};

/// Bytes that any name takes, its NUL included.
constexpr size_t kTagNameBufferSize = 19;

/// Writes the tag's name (its number when enum strings are off) to `buffer`, NUL-terminated and cut to `buffer_size`. Returns the length
/// written without the NUL.
size_t tag_to_string(Tag tag, char* buffer, size_t buffer_size);

#if ET_ENABLE_ENUM_STRINGS
/// The tag's name, or "Unknown".
inline const char* tag_to_string(Tag tag) {
  switch (tag) {
#define CASE_TAG(x) \
  case Tag::x:      \
    return #x;
    EXECUTORCH_FORALL_TAGS(CASE_TAG)
#undef CASE_TAG
  }
  return "Unknown";
}
#endif

} // namespace runtime
} // namespace executorch
