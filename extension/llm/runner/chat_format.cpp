// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/llm/runner/chat_format.h>

#include <fstream>
#include <sstream>

#include <executorch/extension/llm/runner/constants.h>

namespace executorch::extension::llm {

using runtime::Error;
using runtime::Result;

namespace {

constexpr ChatFormat kFormats[] = {
    {"chatml", "<|im_start|>", "", "<|im_start|>%\n", "<|im_end|>\n", "assistant", false, true},
    {"llama3", "<|start_header_id|>", "<|begin_of_text|>",
     "<|start_header_id|>%<|end_header_id|>\n\n", "<|eot_id|>", "assistant", true, true},
    {"gemma", "<start_of_turn>", "<bos>", "<start_of_turn>%\n", "<end_of_turn>\n", "model", true,
     false},
};

// Where checkpoints have their template, and what stands before it there.
struct Place {
  const char* file;
  const char* key;
};
constexpr Place kPlaces[] = {{"chat_template.jinja", ""},
                             {"tokenizer_config.json", "\"chat_template\""}};

std::string names() {
  std::string all;
  for (const ChatFormat& each : kFormats) {
    all += (all.empty() ? "" : ", ") + std::string(each.name);
  }
  return all;
}

std::string_view trimmed(std::string_view text) {
  constexpr const char* kBlanks = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlanks);
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string before(const ChatFormat& format, const std::string& role) {
  std::string text = format.before;
  return text.replace(text.find('%'), 1, role == "assistant" ? format.assistant : role);
}

Error check_message(const ChatFormat& format, const ChatMessage& message, bool is_first) {
  const bool is_system = message.role == "system";
  ET_CHECK_OR_RETURN_ERROR(is_system || message.role == "user" || message.role == "assistant",
                           InvalidArgument, "expected the role system, user or assistant, found %s",
                           message.role.c_str());
  ET_CHECK_OR_RETURN_ERROR(!is_system || format.has_system, InvalidArgument,
                           "the chat format %s has no system messages", format.name);
  ET_CHECK_OR_RETURN_ERROR(!is_system || is_first, InvalidArgument,
                           "expected the system message first, found it behind others");
  return Error::Ok;
}

// Of a file in the program, or beside the tokenizer; empty where there is none.
std::string read(Module& module, const std::string& folder, const char* name) {
  const auto data = module.program()->get_named_data_map();
  if (data.ok() && *data != nullptr) {
    const auto held = (*data)->get_data(std::string(kCompanions) + name);
    if (held.ok()) {
      return {static_cast<const char*>(held->data()), held->size()};
    }
  }
  std::ostringstream text;
  std::ifstream file(folder + name, std::ios::binary);
  text << file.rdbuf();
  return text.str();
}

}  // namespace

Result<const ChatFormat*> find_chat_format(std::string_view name) {
  for (const ChatFormat& each : kFormats) {
    if (name == each.name) {
      return &each;
    }
  }
  ET_LOG(Error, "expected one of the chat formats %s, found %.*s", names().c_str(),
         static_cast<int>(name.size()), name.data());
  return Error::InvalidArgument;
}

Result<const ChatFormat*> chat_format_of(std::string_view chat_template) {
  for (const ChatFormat& each : kFormats) {
    if (chat_template.find(each.mark) != std::string_view::npos) {
      return &each;
    }
  }
  ET_LOG(Error, "the checkpoint's chat template is of none of the formats %s", names().c_str());
  return Error::NotSupported;
}

Result<const ChatFormat*> chat_format_of(Module& module, const std::string& tokenizer_path) {
  ET_CHECK_OK_OR_RETURN_ERROR(module.load());
  const std::string folder = tokenizer_path.substr(0, tokenizer_path.rfind('/') + 1);
  for (const Place& place : kPlaces) {
    const std::string text = read(module, folder, place.file);
    const size_t at = text.empty() ? std::string::npos : text.find(place.key);
    if (at != std::string::npos) {
      return chat_format_of(std::string_view(text).substr(at));
    }
  }
  ET_LOG(
      Error,
      "expected a chat template in the program or in the folder of the tokenizer %s, found none: "
      "name one of the formats %s",
      tokenizer_path.c_str(), names().c_str());
  return Error::NotFound;
}

Result<std::string> format_chat(const ChatFormat& format,
                                const std::vector<ChatMessage>& messages) {
  ET_CHECK_OR_RETURN_ERROR(!messages.empty(), InvalidArgument,
                           "expected a message at least, found none");
  std::string text = format.begin;
  for (const ChatMessage& message : messages) {
    ET_CHECK_OK_OR_RETURN_ERROR(check_message(format, message, &message == &messages[0]));
    text += before(format, message.role);
    text += format.is_trimmed ? trimmed(message.content) : message.content;
    text += format.after;
  }
  return text + before(format, "assistant");
}

}  // namespace executorch::extension::llm
