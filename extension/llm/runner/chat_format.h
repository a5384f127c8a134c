// SPDX-License-Identifier: BSD-3-Clause
// Chat formats: messages as the text that a model was tuned on, where there is no Jinja to run the
// checkpoint's template. They add no system message of their own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <executorch/extension/module/module.h>
#include <executorch/runtime/core/result.h>

namespace executorch::extension::llm {

struct ChatMessage {
  std::string role;  // system, user or assistant
  std::string content;
};

// A row. In `before`, % stands for the role.
struct ChatFormat {
  const char* name;
  const char* mark;       // what templates of this format have, and others have not
  const char* begin;      // of the conversation
  const char* before;     // each message
  const char* after;      // each message
  const char* assistant;  // the role's name in this format
  bool is_trimmed;        // without blanks around contents
  bool has_system;
};

// chatml, llama3, gemma. InvalidArgument, with their names, for another.
runtime::Result<const ChatFormat*> find_chat_format(std::string_view name);

// The format of a checkpoint's template; NotSupported if it is none of these.
runtime::Result<const ChatFormat*> chat_format_of(std::string_view chat_template);

// That of the template in the program, or in the tokenizer's folder; NotFound where neither has
// one.
runtime::Result<const ChatFormat*> chat_format_of(Module& module,
                                                  const std::string& tokenizer_path);

// The conversation, and what an answer of the assistant begins with. InvalidArgument for no
// messages, a role that is none, and a system message that is not the first or that the format does
// not have.
runtime::Result<std::string> format_chat(const ChatFormat& format,
                                         const std::vector<ChatMessage>& messages);

}  // namespace executorch::extension::llm
