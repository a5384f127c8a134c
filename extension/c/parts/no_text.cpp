// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/c/parts/text.h>

#include <executorch/extension/c/status.h>

namespace executorch::extension::c {
namespace {

ExecuTorchStatus refuse(const char* call) noexcept {
  return guard(call, []() -> runtime::Error {
    ET_LOG(Error, "text: this library was built without EXECUTORCH_BUILD_EXTENSION_LLM_RUNNER");
    return runtime::Error::NotSupported;
  });
}

}  // namespace

ExecuTorchStatus text_new(const ExecuTorchTextOptions*, size_t, ExecuTorchText*) noexcept {
  return refuse("text_new");
}
ExecuTorchStatus text_generate(ExecuTorchText, const char*, const ExecuTorchGenerateOptions*,
                               ExecuTorchTextResult*) noexcept {
  return refuse("text_generate");
}
ExecuTorchStatus text_chat(ExecuTorchText, const ExecuTorchMessage*, size_t, const char*,
                           const ExecuTorchGenerateOptions*, ExecuTorchTextResult*) noexcept {
  return refuse("text_chat");
}
ExecuTorchStatus text_stop(ExecuTorchText) noexcept {
  return refuse("text_stop");
}
ExecuTorchStatus text_position(ExecuTorchText, int64_t*) noexcept {
  return refuse("text_position");
}
ExecuTorchStatus text_rewind(ExecuTorchText, int64_t) noexcept {
  return refuse("text_rewind");
}
ExecuTorchStatus text_save(ExecuTorchText, const char*) noexcept {
  return refuse("text_save");
}
ExecuTorchStatus text_restore(ExecuTorchText, const char*) noexcept {
  return refuse("text_restore");
}
ExecuTorchStatus text_encode(ExecuTorchText, const char*, uint64_t*, size_t, size_t*) noexcept {
  return refuse("text_encode");
}
ExecuTorchStatus text_decode(ExecuTorchText, const uint64_t*, size_t, char*, size_t,
                             size_t*) noexcept {
  return refuse("text_decode");
}

}  // namespace executorch::extension::c
