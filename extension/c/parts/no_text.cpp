// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/c/parts/text.h>

#include <executorch/extension/c/status.h>

// Weak: where libraries are static, as in the frameworks of Apple's systems, an app that links
// text.cpp, too, gets that.
#define ET_UNLESS_LINKED __attribute__((weak))

namespace executorch::extension::c {
namespace {

ExecuTorchStatus refuse(const char* call) noexcept {
  return guard(call, []() -> runtime::Error {
    ET_LOG(Error, "text: this library was built without EXECUTORCH_BUILD_EXTENSION_LLM_RUNNER");
    return runtime::Error::NotSupported;
  });
}

}  // namespace

ET_UNLESS_LINKED ExecuTorchStatus text_new(const ExecuTorchTextOptions*, size_t,
                                           ExecuTorchText*) noexcept {
  return refuse("text_new");
}
ET_UNLESS_LINKED ExecuTorchStatus text_generate(ExecuTorchText, const char*,
                                                const ExecuTorchGenerateOptions*,
                                                ExecuTorchTextResult*) noexcept {
  return refuse("text_generate");
}
ET_UNLESS_LINKED ExecuTorchStatus text_chat(ExecuTorchText, const ExecuTorchMessage*, size_t,
                                            const char*, const ExecuTorchGenerateOptions*,
                                            ExecuTorchTextResult*) noexcept {
  return refuse("text_chat");
}
ET_UNLESS_LINKED ExecuTorchStatus text_stop(ExecuTorchText) noexcept {
  return refuse("text_stop");
}
ET_UNLESS_LINKED ExecuTorchStatus text_position(ExecuTorchText, int64_t*) noexcept {
  return refuse("text_position");
}
ET_UNLESS_LINKED ExecuTorchStatus text_rewind(ExecuTorchText, int64_t) noexcept {
  return refuse("text_rewind");
}
ET_UNLESS_LINKED ExecuTorchStatus text_save(ExecuTorchText, const char*) noexcept {
  return refuse("text_save");
}
ET_UNLESS_LINKED ExecuTorchStatus text_restore(ExecuTorchText, const char*) noexcept {
  return refuse("text_restore");
}
ET_UNLESS_LINKED ExecuTorchStatus text_encode(ExecuTorchText, const char*, uint64_t*, size_t,
                                              size_t*) noexcept {
  return refuse("text_encode");
}
ET_UNLESS_LINKED ExecuTorchStatus text_decode(ExecuTorchText, const uint64_t*, size_t, char*,
                                              size_t, size_t*) noexcept {
  return refuse("text_decode");
}

}  // namespace executorch::extension::c
