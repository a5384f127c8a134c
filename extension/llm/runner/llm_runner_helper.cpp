// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/llm/runner/llm_runner_helper.h>

#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <utility>

#include <pytorch/tokenizers/load_tokenizer.h>

#include <executorch/extension/llm/runner/constants.h>
#include <executorch/extension/llm/runner/multimodal_runner.h>
#include <executorch/extension/llm/runner/shared_decoder.h>
#include <executorch/extension/llm/runner/state_file.h>
#include <executorch/extension/llm/runner/text_llm_runner.h>
#include <executorch/extension/memory_allocator/cpu_caching_malloc_allocator.h>
#include <executorch/runtime/platform/runtime.h>

namespace executorch::extension::llm {

using runtime::Error;
using runtime::EValue;
using runtime::Result;

namespace {

// Of a prompt that shares calls with other sessions, which wait for it.
constexpr int64_t kSharedPromptTokens = 128;

struct Default {
  const char* name;
  int64_t value;
};
constexpr Default kDefaults[] = {{kEnableDynamicShape, 0}, {kMaxSeqLen, 128},
                                 {kMaxContextLen, 128},    {kMaxSessions, 1},
                                 {kUseKVCache, 1},         {kUseSDPAWithKVCache, 0}};

// The name that a program has for a constant: documents list the lengths without "get_", too. Null
// when it has none.
const char* present(const std::unordered_set<std::string>& names, const char* name) {
  constexpr std::string_view kPrefix = "get_";
  if (names.count(name) > 0) {
    return name;
  }
  const bool has_prefix = std::string_view(name).substr(0, kPrefix.size()) == kPrefix;
  const char* bare = name + (has_prefix ? kPrefix.size() : 0);
  return names.count(bare) > 0 ? bare : nullptr;
}

Result<int64_t> constant(Module* module, const std::string& name) {
  const EValue value = ET_UNWRAP(module->get(name), "Cannot read constant method %s", name.c_str());
  ET_CHECK_OR_RETURN_ERROR(value.isInt() || value.isBool() || value.isDouble(), InvalidProgram,
                           "Expected a number from method %s", name.c_str());
  return value.isInt()    ? value.toInt()
         : value.isBool() ? static_cast<int64_t>(value.toBool())
                          : static_cast<int64_t>(value.toDouble());
}

// What a program carries, as files, for readers that take a path. The folder goes with the object.
class UnpackedData {
 public:
  explicit UnpackedData(const runtime::NamedDataMap& data) : data_(data) {
    const char* parent = std::getenv("TMPDIR");
    std::string folder =
        std::string(parent != nullptr ? parent : "/tmp") + "/executorch-llm-XXXXXX";
    if (::mkdtemp(folder.data()) != nullptr) {
      folder_ = std::move(folder);
    }
  }
  ~UnpackedData() {
    for (const std::string& file : files_) {
      ::unlink(file.c_str());
    }
    if (!folder_.empty()) {
      ::rmdir(folder_.c_str());
    }
  }
  UnpackedData(const UnpackedData&) = delete;
  UnpackedData& operator=(const UnpackedData&) = delete;

  // Whether the program has it, and it could be written.
  bool unpack(const std::string& name) {
    const auto held = data_.get_data(kCompanions + name);
    if (!held.ok() || folder_.empty()) {
      return false;
    }
    files_.push_back(path(name));
    std::ofstream file(files_.back(), std::ios::binary);
    file.write(static_cast<const char*>(held->data()), static_cast<std::streamsize>(held->size()));
    return static_cast<bool>(file.flush());
  }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

 private:
  const runtime::NamedDataMap& data_;
  std::string folder_;
  std::vector<std::string> files_;
};

bool is_usable(const tokenizers::Tokenizer* tokenizer) {
  const bool usable = tokenizer != nullptr && tokenizer->is_loaded();
  if (!usable) {
    ET_LOG(Error, "Expected a loaded tokenizer: load_tokenizer() makes one from a file");
  }
  return usable;
}

Result<std::unordered_map<std::string, int64_t>> metadata_of(const std::string& model_path,
                                                             tokenizers::Tokenizer& tokenizer,
                                                             Module& module) {
  auto metadata = get_llm_metadata(&tokenizer, &module);
  if (!metadata.ok()) {
    ET_LOG(Error, "Cannot read metadata of %s", model_path.c_str());
  }
  return metadata;
}

// What runners of one program are made from.
struct Source {
  std::string model_path;
  std::vector<std::string> data_files;
  std::string method_name;
  Module::LoadMode load_mode;
  std::unique_ptr<runtime::EventTracer> event_tracer;  // of the first module
  std::shared_ptr<SharedDecoder> shared;               // the last one, perhaps with free sessions

  std::unique_ptr<Module> module() {
    return std::make_unique<Module>(model_path, data_files, load_mode, std::move(event_tracer),
                                    nullptr,
                                    std::make_unique<CPUCachingAllocator>(kTemporaryBytes));
  }
};

// Null, with the reason logged, without a usable tokenizer or metadata.
std::unique_ptr<TextLLMRunner> make_runner(Source& source,
                                           std::unique_ptr<::tokenizers::Tokenizer> tokenizer,
                                           float temperature) {
  if (!is_usable(tokenizer.get())) {
    return nullptr;
  }
  auto module = source.module();
  auto read = metadata_of(source.model_path, *tokenizer, *module);
  if (!read.ok()) {
    return nullptr;
  }
  auto metadata = std::move(*read);
  std::vector<std::string> files = {source.model_path};
  files.insert(files.end(), source.data_files.begin(), source.data_files.end());
  metadata[kFingerprint] = file_fingerprint(files);
  auto eos_ids =
      std::make_unique<std::unordered_set<uint64_t>>(get_eos_ids(tokenizer.get(), module.get()));
  const bool use_kv_cache = metadata.at(kUseKVCache) != 0;
  int64_t most_tokens = tokens_per_call(module.get(), source.method_name, metadata);
  auto io_manager = std::make_unique<IOManager>(*module);
  auto sampler = std::make_unique<Sampler>(static_cast<int32_t>(metadata.at(kVocabSize)),
                                           std::max(temperature, 0.0f));
  std::unique_ptr<TextDecoderRunner> decoder;
  if (metadata.at(kMaxSessions) > 1) {
    const auto session = take_session(source.shared, source.method_name, metadata, most_tokens,
                                      [&] { return source.module(); });
    if (!session.ok()) {
      return nullptr;
    }
    decoder = std::make_unique<SessionDecoderRunner>(source.shared, *session, io_manager.get(),
                                                     std::move(sampler));
    most_tokens = std::min(most_tokens, kSharedPromptTokens);
  } else {
    decoder = std::make_unique<TextDecoderRunner>(module.get(), io_manager.get(),
                                                  source.method_name, std::move(sampler));
  }
  auto prefiller = std::make_unique<TextPrefiller>(
      decoder.get(), use_kv_cache, metadata.at(kEnableDynamicShape) != 0, most_tokens);
  auto stats = std::make_unique<Stats>();
  auto generator = std::make_unique<TextTokenGenerator>(
      tokenizer.get(), decoder.get(), use_kv_cache, std::move(eos_ids), stats.get());
  return std::make_unique<TextLLMRunner>(std::move(metadata), std::move(tokenizer),
                                         std::move(module), std::move(decoder),
                                         std::move(prefiller), std::move(io_manager),
                                         std::move(generator), std::move(stats), temperature);
}

}  // namespace

int64_t tokens_per_call(Module* module, const std::string& method,
                        const std::unordered_map<std::string, int64_t>& metadata) {
  const int64_t most = metadata.at(kMaxSeqLen) > 0 ? metadata.at(kMaxSeqLen) : 128;
  if (metadata.at(kUseKVCache) == 0) {
    return std::max(most, metadata.at(kMaxContextLen));
  }
  const auto meta = module->method_meta(method);
  if (!meta.ok() || meta->num_inputs() == 0) {
    return most;
  }
  const auto info = meta->input_tensor_meta(0);
  if (!info.ok() || info->sizes().size() != 2) {
    return most;
  }
  return std::min<int64_t>(most, info->sizes()[1]);
}

std::unique_ptr<tokenizers::Tokenizer> load_tokenizer(
    const std::string& tokenizer_path, std::unique_ptr<std::vector<std::string>> special_tokens,
    std::optional<std::string> pattern, size_t bos_token_index, size_t eos_token_index) {
  runtime::runtime_init();
  return tokenizers::load_tokenizer(tokenizer_path, std::move(special_tokens), std::move(pattern),
                                    bos_token_index, eos_token_index);
}

std::unique_ptr<tokenizers::Tokenizer> load_tokenizer_of_program(const std::string& model_path) {
  runtime::runtime_init();
  Module module(model_path, Module::LoadMode::Mmap);
  const Error loaded = module.load();
  const auto data = loaded == Error::Ok ? module.program()->get_named_data_map() : loaded;
  if (data.ok() && *data != nullptr) {
    UnpackedData unpacked(**data);
    if (unpacked.unpack("tokenizer.json")) {
      // Read from the folder, where its begin and end tokens are, too.
      static_cast<void>(unpacked.unpack("tokenizer_config.json"));
      return load_tokenizer(unpacked.path(""));
    }
    for (const char* name : {"tekken.json", "tokenizer.model"}) {
      if (unpacked.unpack(name)) {
        return load_tokenizer(unpacked.path(name));
      }
    }
  }
  ET_LOG(Error,
         "%s: expected a program with a tokenizer, found none in it; give the tokenizer's file",
         model_path.c_str());
  return nullptr;
}

Result<std::unordered_map<std::string, int64_t>> get_llm_metadata(tokenizers::Tokenizer* tokenizer,
                                                                  Module* module) {
  const auto names = module->method_names();
  ET_CHECK_OR_RETURN_ERROR(names.ok(), InvalidArgument, "Cannot read the program's methods: %s",
                           runtime::to_string(names.error()));
  ET_CHECK_OR_RETURN_ERROR(present(*names, kMaxSeqLen) != nullptr, InvalidArgument,
                           "The program has no method %s: export it with export_llm, or pass "
                           "constant_methods={\"%s\": ...}",
                           kMaxSeqLen, kMaxSeqLen);
  std::unordered_map<std::string, int64_t> metadata;
  for (const Default& row : kDefaults) {
    int64_t value = row.value;
    if (const char* name = present(*names, row.name)) {
      value = ET_UNWRAP(constant(module, name));
    } else {
      ET_LOG(Info, "Method %s not found, using the default value %" PRId64, row.name, row.value);
    }
    ET_LOG(Info, "Metadata: %s = %" PRId64, row.name, value);
    metadata[row.name] = value;
  }
  if (present(*names, kMaxContextLen) == nullptr) {
    metadata[kMaxContextLen] = metadata[kMaxSeqLen];
  }
  metadata[kKeepsAllPositions] =
      static_cast<int64_t>(metadata[kMaxSeqLen] >= metadata[kMaxContextLen]);
  if (names->count(kKeepsAllPositions) > 0) {
    metadata[kKeepsAllPositions] = ET_UNWRAP(constant(module, kKeepsAllPositions));
  }
  metadata[kBosId] = static_cast<int64_t>(tokenizer->bos_tok());
  metadata[kVocabSize] = tokenizer->vocab_size();
  return metadata;
}

std::unordered_set<uint64_t> get_eos_ids(tokenizers::Tokenizer* tokenizer, Module* module) {
  std::unordered_set<uint64_t> ids = {tokenizer->eos_tok()};
  const auto names = module->method_names();
  if (!names.ok() || names->count(kEosIds) == 0) {
    return ids;
  }
  ids.clear();
  const auto outputs = module->execute(kEosIds);
  if (!outputs.ok()) {
    ET_LOG(Error, "Method %s failed: no token ends an answer", kEosIds);
    return ids;
  }
  for (const EValue& value : *outputs) {
    if (value.isInt()) {
      ids.insert(static_cast<uint64_t>(value.toInt()));
      ET_LOG(Info, "eos_id = %" PRId64, value.toInt());
    }
  }
  return ids;
}

std::unique_ptr<TextLLMRunner> create_text_llm_runner(
    const std::string& model_path, std::unique_ptr<::tokenizers::Tokenizer> tokenizer,
    std::optional<const std::string> data_path, float temperature, const std::string& method_name,
    Module::LoadMode load_mode) {
  std::vector<std::string> data_files;
  if (data_path.has_value()) {
    data_files.push_back(*data_path);
  }
  return create_text_llm_runner(model_path, std::move(tokenizer), std::move(data_files),
                                temperature, nullptr, method_name, load_mode);
}

std::unique_ptr<TextLLMRunner> create_text_llm_runner(
    const std::string& model_path, std::unique_ptr<::tokenizers::Tokenizer> tokenizer,
    std::vector<std::string> data_files, float temperature,
    std::unique_ptr<::executorch::runtime::EventTracer> event_tracer,
    const std::string& method_name, Module::LoadMode load_mode) {
  Source source{model_path, std::move(data_files),   method_name,
                load_mode,  std::move(event_tracer), nullptr};
  return make_runner(source, std::move(tokenizer), temperature);
}

std::vector<std::unique_ptr<TextLLMRunner>> create_text_llm_runners(
    const std::string& model_path, const std::string& tokenizer_path, size_t count,
    const std::vector<std::string>& data_files, float temperature, const std::string& method_name,
    Module::LoadMode load_mode) {
  Source source{model_path, data_files, method_name, load_mode, nullptr, nullptr};
  std::vector<std::unique_ptr<TextLLMRunner>> runners;
  for (size_t i = 0; i < count; ++i) {
    auto tokenizer = tokenizer_path.empty() ? load_tokenizer_of_program(model_path)
                                            : load_tokenizer(tokenizer_path);
    auto runner = make_runner(source, std::move(tokenizer), temperature);
    if (runner == nullptr) {
      return {};
    }
    runners.push_back(std::move(runner));
  }
  return runners;
}

std::unique_ptr<MultimodalRunner> create_multimodal_runner(
    const std::string& model_path, std::unique_ptr<::tokenizers::Tokenizer> tokenizer,
    std::optional<const std::string> data_path, Module::LoadMode load_mode) {
  if (!is_usable(tokenizer.get())) {
    return nullptr;
  }
  auto module = data_path.has_value() ? std::make_unique<Module>(model_path, *data_path, load_mode)
                                      : std::make_unique<Module>(model_path, load_mode);
  auto read = metadata_of(model_path, *tokenizer, *module);
  if (!read.ok()) {
    return nullptr;
  }
  auto metadata = std::move(*read);
  auto eos_ids =
      std::make_unique<std::unordered_set<uint64_t>>(get_eos_ids(tokenizer.get(), module.get()));
  auto io_manager = std::make_unique<IOManager>(*module);
  auto decoder = std::make_unique<MultimodalDecoderRunner>(
      module.get(), io_manager.get(), kTextModelMethod,
      std::make_unique<Sampler>(static_cast<int32_t>(metadata.at(kVocabSize)), 0.0f));
  auto prefiller = std::make_unique<MultimodalPrefiller>(module.get(), decoder.get(),
                                                         tokenizer.get(), io_manager.get());
  auto stats = std::make_unique<Stats>();
  auto generator = std::make_unique<TextTokenGenerator>(tokenizer.get(), decoder.get(), true,
                                                        std::move(eos_ids), stats.get());
  return std::make_unique<MultimodalRunner>(
      std::move(metadata), std::move(tokenizer), std::move(module), std::move(decoder),
      std::move(prefiller), std::move(io_manager), std::move(generator), std::move(stats));
}

}  // namespace executorch::extension::llm
