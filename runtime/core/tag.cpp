// SPDX-License-Identifier: BSD-3-Clause
// Names of tags.
#include <executorch/runtime/core/tag.h>

namespace executorch {
namespace runtime {
namespace {

size_t copy_text(const char* text, char* buffer, size_t buffer_size) {
  size_t length = 0;
  while (text[length] != '\0' && length + 1 < buffer_size) {
    buffer[length] = text[length];
    ++length;
  }
  buffer[length] = '\0';
  return length;
}

} // namespace

size_t tag_to_string(Tag tag, char* buffer, size_t buffer_size) {
  if (buffer_size == 0) {
    return 0;
  }
#if ET_ENABLE_ENUM_STRINGS
  return copy_text(tag_to_string(tag), buffer, buffer_size);
#else
  char digits[11] = {};
  size_t first = sizeof(digits) - 1;
  uint32_t value = static_cast<uint32_t>(tag);
  do {
    digits[--first] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  return copy_text(digits + first, buffer, buffer_size);
#endif
}

} // namespace runtime
} // namespace executorch
