// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/llm/runner/text_llm_engine.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>
#include <unordered_set>
#include <utility>
#include <vector>

#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/llm/runner/constants.h>
#include <executorch/extension/llm/runner/context.h>
#include <executorch/extension/llm/runner/llm_runner_helper.h>
#include <executorch/extension/llm/runner/shared_decoder.h>
#include <executorch/extension/llm/runner/text_decoder_runner.h>
#include <executorch/extension/llm/runner/util.h>
#include <executorch/extension/memory_allocator/cpu_caching_malloc_allocator.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::extension::llm {

using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::Tensor;
using runtime::Error;
using runtime::Result;

namespace {

// What sessions share; constant.
struct Model {
  std::shared_ptr<runtime::Program> program;
  std::optional<std::string> data_path;
  std::unique_ptr<::tokenizers::Tokenizer> tokenizer;
  std::string method;
  std::unordered_map<std::string, int64_t> metadata;
  std::unordered_set<uint64_t> eos_ids;
  int64_t tokens_per_call;
};

class TextLLMSession : public LLMSession {
 public:
  // On a module of its own.
  TextLLMSession(std::shared_ptr<const Model> model, std::unique_ptr<Module> module)
      : model_(std::move(model)),
        context_(model_->metadata),
        module_(std::move(module)),
        io_manager_(*module_),
        decoder_(std::make_unique<TextDecoderRunner>(module_.get(), &io_manager_, model_->method,
                                                     sampler_of(*model_))) {}

  // On a session that was taken.
  TextLLMSession(std::shared_ptr<const Model> model, const std::shared_ptr<SharedDecoder>& shared,
                 int64_t session)
      : model_(std::move(model)),
        context_(model_->metadata),
        io_manager_(*shared->module()),
        decoder_(std::make_unique<SessionDecoderRunner>(shared, session, &io_manager_,
                                                        sampler_of(*model_))) {}

  Error load() {
    ET_CHECK_OK_OR_RETURN_ERROR(decoder_->load());
    return io_manager_.load();
  }

  Error prefill_tokens(const std::vector<uint64_t>& tokens,
                       const SamplingConfig* initial_sampling) override {
    return noted(append(tokens, initial_sampling));
  }

  Result<DecodeResult> decode_one(const SamplingConfig& sampling) override {
    auto result = next(sampling);
    ET_CHECK_OK_OR_RETURN_ERROR(noted(result.error()));
    return result;
  }

  int64_t position() const override { return context_.size(); }

  Error reset() override {
    ET_CHECK_OK_OR_RETURN_ERROR(io_manager_.reset());
    context_.clear();
    fed_ = 0;
    logits_.reset();
    sampled_.reset();
    seed_ = 0;
    is_failed_ = is_terminal_ = false;
    should_stop_.store(false);
    return Error::Ok;
  }

  void stop() override { should_stop_.store(true); }

 private:
  static std::unique_ptr<Sampler> sampler_of(const Model& model) {
    return std::make_unique<Sampler>(static_cast<int32_t>(model.metadata.at(kVocabSize)), 0.0f);
  }

  Error noted(Error error) {
    is_failed_ = is_failed_ || error != Error::Ok;
    return error;
  }

  Error check_usable() const {
    ET_CHECK_OR_RETURN_ERROR(!is_failed_, InvalidState,
                             "An earlier call of this session failed: reset() it");
    return Error::Ok;
  }

  Error append(const std::vector<uint64_t>& tokens, const SamplingConfig* initial_sampling) {
    ET_CHECK_OK_OR_RETURN_ERROR(check_usable());
    ET_CHECK_OR_RETURN_ERROR(!tokens.empty(), InvalidArgument,
                             "Expected a token at least, got none");
    ET_CHECK_OK_OR_RETURN_ERROR(context_.check_room(tokens.size()));
    context_.append(tokens);
    is_terminal_ = false;
    should_stop_.store(false);
    sampled_.reset();
    ET_CHECK_OK_OR_RETURN_ERROR(feed());
    if (initial_sampling != nullptr) {
      sampled_ = ET_UNWRAP(sample(*initial_sampling));
    }
    return Error::Ok;
  }

  // The tokens of the context that the decoder has not had.
  Error feed() {
    if (model_->metadata.at(kUseKVCache) == 0) {
      fed_ = 0;
    }
    while (fed_ < context_.size()) {
      const int64_t count = next_call(context_.size() - fed_, model_->tokens_per_call);
      auto* tokens = const_cast<uint64_t*>(context_.ids().data() + fed_);
      auto input = from_blob(tokens, {1, static_cast<SizesType>(count)}, ScalarType::Long);
      logits_ = ET_UNWRAP(decoder_->step(input, fed_));
      fed_ += count;
    }
    return Error::Ok;
  }

  Result<uint64_t> sample(const SamplingConfig& sampling) {
    const float temperature = sampling.temperature == -1.0f ? 0.0f : sampling.temperature;
    ET_CHECK_OK_OR_RETURN_ERROR(check_temperature(temperature));
    ET_CHECK_OR_RETURN_ERROR(
        sampling.top_p > 0 && sampling.top_p <= 1 && sampling.top_k >= 0, InvalidArgument,
        "Expected top_p above 0, up to 1, and top_k of 0 or more, got %f and %d",
        static_cast<double>(sampling.top_p), static_cast<int>(sampling.top_k));
    Sampler& sampler = *decoder_->sampler();
    sampler.set_topp(sampling.top_p);
    sampler.set_topk(sampling.top_k);
    // The seed of a whole answer comes with each of its tokens.
    if (sampling.seed != 0 && sampling.seed != seed_) {
      sampler.set_seed(sampling.seed);
      seed_ = sampling.seed;
    }
    return static_cast<uint64_t>(decoder_->logits_to_token(*logits_, temperature));
  }

  Result<DecodeResult> next(const SamplingConfig& sampling) {
    ET_CHECK_OK_OR_RETURN_ERROR(check_usable());
    if (should_stop_.load()) {
      return DecodeResult{0, "", false, true};
    }
    ET_CHECK_OR_RETURN_ERROR(context_.size() > 0 && !is_terminal_, InvalidState,
                             "Nothing follows before prefill_tokens()");
    ET_CHECK_OK_OR_RETURN_ERROR(feed());
    const uint64_t token = sampled_.has_value() ? *sampled_ : ET_UNWRAP(sample(sampling));
    sampled_.reset();
    std::string piece = ET_UNWRAP(text_of(*model_->tokenizer, context_.ids().back(), token));
    context_.append(token);
    const bool is_eos = model_->eos_ids.count(token) > 0;
    is_terminal_ = is_eos || context_.occupied() >= context_.length();
    return DecodeResult{token, std::move(piece), is_eos, is_terminal_};
  }

  std::shared_ptr<const Model> model_;
  Context context_;
  std::unique_ptr<Module> module_;
  IOManager io_manager_;
  std::unique_ptr<TextDecoderRunner> decoder_;
  int64_t fed_ = 0;               // tokens of the context that the decoder has had
  std::optional<Tensor> logits_;  // of the last token fed, in the method's memory
  std::optional<uint64_t> sampled_;
  uint64_t seed_ = 0;
  bool is_failed_ = false;
  bool is_terminal_ = false;
  std::atomic<bool> should_stop_{false};
};

class TextLLMEngine : public LLMEngine {
 public:
  TextLLMEngine(std::unique_ptr<Module> module, std::shared_ptr<const Model> model,
                LLMServingCapacity capacity)
      : module_(std::move(module)), model_(std::move(model)), capacity_(capacity) {}

  Result<std::unique_ptr<LLMSession>> create_session() override {
    std::unique_ptr<TextLLMSession> session;
    if (model_->metadata.at(kMaxSessions) == 1) {
      session = std::make_unique<TextLLMSession>(model_, ET_UNWRAP(make_module()));
    } else {
      const std::lock_guard<std::mutex> lock(mutex_);
      const int64_t number =
          ET_UNWRAP(take_session(shared_, model_->method, model_->metadata, model_->tokens_per_call,
                                 [this] { return make_module(); }));
      session = std::make_unique<TextLLMSession>(model_, shared_, number);
    }
    ET_CHECK_OK_OR_RETURN_ERROR(session->load());
    return std::unique_ptr<LLMSession>(std::move(session));
  }

  const std::unordered_map<std::string, int64_t>& metadata() const override {
    return model_->metadata;
  }

  LLMServingCapacity serving_capacity() const override { return capacity_; }

 private:
  Result<std::unique_ptr<Module>> make_module() const {
    std::unique_ptr<runtime::DataLoader> data;
    if (model_->data_path.has_value()) {
      auto loader = ET_UNWRAP(FileDataLoader::from(model_->data_path->c_str()));
      data = std::make_unique<FileDataLoader>(std::move(loader));
    }
    return std::make_unique<Module>(model_->program, nullptr,
                                    std::make_unique<CPUCachingAllocator>(kTemporaryBytes), nullptr,
                                    std::move(data));
  }

  std::unique_ptr<Module> module_;
  std::shared_ptr<const Model> model_;
  LLMServingCapacity capacity_;
  std::mutex mutex_;                       // of create_session()
  std::shared_ptr<SharedDecoder> shared_;  // the last one
};

Result<LLMServingCapacity> capacity_of(Module& module, const std::string& method,
                                       int64_t num_sessions) {
  const auto meta = ET_UNWRAP(module.method_meta(method));
  LLMServingCapacity capacity;
  if (meta.num_backends() == 0) {
    capacity.max_physical_sessions_without_weight_duplication = std::numeric_limits<int32_t>::max();
  } else {
    capacity.max_physical_sessions_without_weight_duplication = static_cast<int32_t>(num_sessions);
  }
  for (size_t id = 0; id < meta.num_memory_planned_buffers(); ++id) {
    capacity.estimated_bytes_per_session += ET_UNWRAP(meta.memory_planned_buffer_size(id));
  }
  capacity.estimated_bytes_per_session /= num_sessions;
  return capacity;
}

}  // namespace

Result<std::unique_ptr<LLMEngine>> create_text_llm_engine(
    const std::string& model_path, std::unique_ptr<::tokenizers::Tokenizer> tokenizer,
    const std::optional<std::string>& data_path, const std::string& method_name,
    Module::LoadMode load_mode) {
  ET_CHECK_OR_RETURN_ERROR(tokenizer != nullptr && tokenizer->is_loaded(), InvalidArgument,
                           "Expected a loaded tokenizer: load_tokenizer() makes one from a file");
  auto module = data_path.has_value() ? std::make_unique<Module>(model_path, *data_path, load_mode)
                                      : std::make_unique<Module>(model_path, load_mode);
  ET_CHECK_OK_OR_RETURN_ERROR(module->load());
  auto model = std::make_shared<Model>();
  model->program = module->program();
  model->data_path = data_path;
  model->method = method_name;
  model->metadata = ET_UNWRAP(get_llm_metadata(tokenizer.get(), module.get()));
  model->eos_ids = get_eos_ids(tokenizer.get(), module.get());
  model->tokens_per_call = tokens_per_call(module.get(), method_name, model->metadata);
  model->tokenizer = std::move(tokenizer);
  const auto capacity =
      ET_UNWRAP(capacity_of(*module, method_name, model->metadata.at(kMaxSessions)));
  return std::unique_ptr<LLMEngine>(
      std::make_unique<TextLLMEngine>(std::move(module), std::move(model), capacity));
}

}  // namespace executorch::extension::llm
