// SPDX-License-Identifier: BSD-3-Clause
// The formats, in the order in which they are tried.
#include <pytorch/tokenizers/held_log.h>
#include <pytorch/tokenizers/hf_tokenizer.h>
#include <pytorch/tokenizers/llama2c_tokenizer.h>
#include <pytorch/tokenizers/load_tokenizer.h>
#include <pytorch/tokenizers/sentencepiece.h>
#include <pytorch/tokenizers/tekken.h>
#include <pytorch/tokenizers/tiktoken.h>

#include <string_view>
#include <utility>

namespace tokenizers {

namespace {

struct TiktokenArguments {
  std::unique_ptr<std::vector<std::string>> special_tokens;
  std::optional<std::string> pattern;
  size_t bos, eos;
};

template <typename T>
std::unique_ptr<Tokenizer> make(TiktokenArguments&) {
  return std::make_unique<T>();
}

std::unique_ptr<Tokenizer> make_tiktoken(TiktokenArguments& with) {
  if (with.special_tokens == nullptr) {
    return std::make_unique<Tiktoken>();
  }
  if (!with.pattern) {
    return std::make_unique<Tiktoken>(std::move(with.special_tokens), with.bos, with.eos);
  }
  return std::make_unique<Tiktoken>(*with.pattern, std::move(with.special_tokens), with.bos,
                                    with.eos);
}

struct Format {
  const char* name;
  /// Only for paths that end so.
  std::string_view suffix;
  std::unique_ptr<Tokenizer> (*make)(TiktokenArguments&);
};
constexpr Format kFormats[] = {
    {"tekken", "tekken.json", make<Tekken>}, {"json", "", make<HFTokenizer>},
    {"TikToken", "", make_tiktoken},         {"Sentencepiece", "", make<SPTokenizer>},
    {"BPE", "", make<Llama2cTokenizer>},
};

bool ends_with(std::string_view path, std::string_view suffix) {
  return path.size() >= suffix.size() && path.substr(path.size() - suffix.size()) == suffix;
}

}  // namespace

std::unique_ptr<Tokenizer> load_tokenizer(const std::string& path,
                                          std::unique_ptr<std::vector<std::string>> special_tokens,
                                          std::optional<std::string> pattern,
                                          size_t bos_token_index, size_t eos_token_index) {
  TiktokenArguments arguments{std::move(special_tokens), std::move(pattern), bos_token_index,
                              eos_token_index};
  HeldLog held;  // what a format finds wrong counts when all do
  for (const Format& format : kFormats) {
    if (!ends_with(path, format.suffix)) {
      continue;
    }
    auto tokenizer = format.make(arguments);
    if (tokenizer->load(path) == Error::Ok) {
      TK_LOG(Info, "Loaded %s tokenizer", format.name);
      return tokenizer;
    }
  }
  held.emit();
  TK_LOG(Error, "%s: expected a tokenizer of a known format", path.c_str());
  return nullptr;
}

}  // namespace tokenizers
