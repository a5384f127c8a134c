// SPDX-License-Identifier: BSD-3-Clause
// Tag: which kind of value an EValue holds.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/defines.h>
#include <executorch/runtime/platform/compiler.h>

// A header of X11 defines it.
#undef None

namespace executorch {
namespace runtime {

/// The kinds in the order of their numbers, which are those of the program format.
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

/// Bytes that tag_to_string() needs at most, the final NUL included.
constexpr size_t kTagNameBufferSize = 19;

/// Writes the name of `tag` ("Unknown" when there is none; its number when names are compiled out)
/// into `buffer`, cut at `buffer_size` - 1 characters. Returns the length of the full name, without
/// NUL, as snprintf() does.
size_t tag_to_string(Tag tag, char* buffer, size_t buffer_size);

#if ET_ENABLE_ENUM_STRINGS
/// The name of `tag`, or "Unknown". A string constant.
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

}  // namespace runtime
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::Tag;
}  // namespace torch::executor
