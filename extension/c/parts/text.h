// SPDX-License-Identifier: BSD-3-Clause
// Text sessions. Builds without the runner of language models refuse (no_text.cpp).
#pragma once

#include <executorch/c/executorch.h>

namespace executorch::extension::c {

ExecuTorchStatus text_new(const ExecuTorchTextOptions* options, size_t count,
                          ExecuTorchText* out_sessions) noexcept;
ExecuTorchStatus text_generate(ExecuTorchText session, const char* prompt,
                               const ExecuTorchGenerateOptions* options,
                               ExecuTorchTextResult* out_result) noexcept;
ExecuTorchStatus text_chat(ExecuTorchText session, const ExecuTorchMessage* messages,
                           size_t num_messages, const char* format,
                           const ExecuTorchGenerateOptions* options,
                           ExecuTorchTextResult* out_result) noexcept;
ExecuTorchStatus text_stop(ExecuTorchText session) noexcept;
ExecuTorchStatus text_position(ExecuTorchText session, int64_t* out_position) noexcept;
ExecuTorchStatus text_rewind(ExecuTorchText session, int64_t position) noexcept;
ExecuTorchStatus text_save(ExecuTorchText session, const char* path) noexcept;
ExecuTorchStatus text_restore(ExecuTorchText session, const char* path) noexcept;
ExecuTorchStatus text_encode(ExecuTorchText session, const char* text, uint64_t* out_ids,
                             size_t capacity, size_t* out_count) noexcept;
ExecuTorchStatus text_decode(ExecuTorchText session, const uint64_t* ids, size_t num_ids,
                             char* out_text, size_t capacity, size_t* out_size) noexcept;

}  // namespace executorch::extension::c
