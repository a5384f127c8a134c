// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/data_loader/file_descriptor_data_loader.h>

#include <climits>
#include <cstring>

#include <executorch/extension/data_loader/fd_reader.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::extension {

using executorch::runtime::Result;

namespace {

constexpr char kPrefix[] = "fd:///";
constexpr size_t kPrefixLength = sizeof(kPrefix) - 1;

Result<int> parse_uri(const char* uri) {
  ET_CHECK_OR_RETURN_ERROR(uri != nullptr && std::strncmp(uri, kPrefix, kPrefixLength) == 0 &&
                               uri[kPrefixLength] != '\0',
                           InvalidArgument, "Expected fd:///<number>, got %s",
                           uri == nullptr ? "nothing" : uri);
  int64_t number = 0;
  for (const char* digit = uri + kPrefixLength; *digit != '\0'; ++digit) {
    ET_CHECK_OR_RETURN_ERROR(*digit >= '0' && *digit <= '9', InvalidArgument,
                             "Expected fd:///<number>, got %s", uri);
    number = number * 10 + (*digit - '0');
    ET_CHECK_OR_RETURN_ERROR(number <= INT_MAX, InvalidArgument,
                             "Expected a file descriptor, got %s", uri);
  }
  return static_cast<int>(number);
}

}  // namespace

Result<FileDescriptorDataLoader> FileDescriptorDataLoader::fromFileDescriptorUri(
    const char* file_descriptor_uri, size_t alignment) {
  ET_CHECK_OK_OR_RETURN_ERROR(internal::check_alignment(alignment));
  const Result<int> fd = parse_uri(file_descriptor_uri);
  ET_CHECK_OK_OR_RETURN_ERROR(fd.error());
  const Result<size_t> size = internal::get_file_size(fd.get());
  ET_CHECK_OK_OR_RETURN_ERROR(size.error());
  return FileDescriptorDataLoader(fd.get(), size.get(), alignment);
}

}  // namespace executorch::extension
