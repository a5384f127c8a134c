// SPDX-License-Identifier: BSD-3-Clause
// The thread that finds no other running takes all steps that wait, and runs them in one call.
#include <executorch/extension/llm/runner/shared_decoder.h>

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <utility>

#include <executorch/extension/llm/runner/constants.h>

namespace executorch::extension::llm {

using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::Tensor;
using runtime::Error;
using runtime::EValue;
using runtime::Result;

namespace {

// Sessions of the last call are waited for half as long as it took, but no longer than this:
// between two tokens lie sampling and a callback.
constexpr std::chrono::milliseconds kLongestWait(10);

constexpr ScalarType kLong = ScalarType::Long;

}  // namespace

SharedDecoder::SharedDecoder(std::unique_ptr<Module> module, std::string method_name,
                             int64_t num_sessions, int64_t context_length, int64_t tokens_per_call)
    : module_(std::move(module)),
      method_name_(std::move(method_name)),
      context_length_(context_length),
      tokens_per_call_(tokens_per_call),
      is_taken_(static_cast<size_t>(num_sessions)) {}

Error SharedDecoder::load() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!is_loaded_) {
    ET_CHECK_OK_OR_RETURN_ERROR(module_->load_method(method_name_),
                                "Failed to load method '%s': check that the program has it and "
                                "that its operators and backends are linked",
                                method_name_.c_str());
    is_loaded_ = true;
  }
  return Error::Ok;
}

bool SharedDecoder::is_loaded() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return is_loaded_;
}

int64_t SharedDecoder::take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto free = std::find(is_taken_.begin(), is_taken_.end(), false);
  if (free == is_taken_.end()) {
    return -1;
  }
  *free = true;
  return free - is_taken_.begin();
}

void SharedDecoder::give_back(int64_t session) {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_taken_[static_cast<size_t>(session)] = false;
  expected_.erase(std::remove(expected_.begin(), expected_.end(), session), expected_.end());
}

Error SharedDecoder::step(Step& step) {
  const auto count = static_cast<int64_t>(step.tokens.size());
  ET_CHECK_OR_RETURN_ERROR(count > 0 && count <= tokens_per_call_ && step.start_pos >= 0 &&
                               step.start_pos <= context_length_ - count,
                           InvalidArgument,
                           "Expected 1 to %" PRId64 " tokens within the %" PRId64
                           " positions of a session, found %" PRId64 " from position %" PRId64,
                           tokens_per_call_, context_length_, count, step.start_pos);
  ET_CHECK_OK_OR_RETURN_ERROR(load());
  Waiting own{&step};
  std::unique_lock<std::mutex> lock(mutex_);
  waiting_.push_back(&own);
  arrived_.notify_all();
  while (!own.is_done) {
    if (is_running_) {
      done_.wait(lock);
    } else {
      lead(lock);
    }
  }
  return own.error;
}

bool SharedDecoder::all_expected_wait() const {
  return std::all_of(expected_.begin(), expected_.end(), [&](int64_t session) {
    return std::any_of(waiting_.begin(), waiting_.end(),
                       [&](const Waiting* each) { return each->step->session == session; });
  });
}

// The steps that came first, as many as a call takes.
SharedDecoder::Batch SharedDecoder::next_batch() {
  Batch batch, left;
  int64_t room = tokens_per_call_;
  for (Waiting* each : waiting_) {
    const auto count = static_cast<int64_t>(each->step->tokens.size());
    (count <= room ? batch : left).push_back(each);
    room -= count <= room ? count : 0;
  }
  waiting_ = std::move(left);
  return batch;
}

void SharedDecoder::lead(std::unique_lock<std::mutex>& lock) {
  is_running_ = true;
  arrived_.wait_for(lock, std::min<Clock::duration>(last_call_ / 2, kLongestWait),
                    [this] { return all_expected_wait(); });
  const Batch batch = next_batch();
  lock.unlock();
  const auto start = Clock::now();
  run(batch);
  lock.lock();
  last_call_ = Clock::now() - start;
  expected_.clear();
  for (Waiting* each : batch) {
    each->is_done = true;
    expected_.push_back(each->step->session);
  }
  is_running_ = false;
  done_.notify_all();
}

// What fails together is tried alone, so that an error is that of its own step.
void SharedDecoder::run(const Batch& batch) {
  const Error error = execute(batch);
  if (error == Error::Ok) {
    return;
  }
  for (Waiting* each : batch) {
    each->error = batch.size() == 1 ? error : execute({each});
  }
}

Error SharedDecoder::execute(const Batch& batch) {
  std::vector<int64_t> tokens, places, wanted;
  for (const Waiting* each : batch) {
    const Step& step = *each->step;
    for (size_t i = 0; i < step.tokens.size(); ++i) {
      tokens.push_back(step.tokens[i]);
      places.push_back(step.session * context_length_ + step.start_pos + static_cast<int64_t>(i));
    }
    wanted.push_back(static_cast<int64_t>(tokens.size()) - 1);
  }
  const auto ids = from_blob(tokens.data(), {1, static_cast<SizesType>(tokens.size())}, kLong);
  const auto at = from_blob(places.data(), {static_cast<SizesType>(places.size())}, kLong);
  const auto of = from_blob(wanted.data(), {static_cast<SizesType>(wanted.size())}, kLong);
  const auto outputs = ET_UNWRAP(module_->execute(method_name_, {ids, at, of}));
  const auto rows = static_cast<ssize_t>(batch.size());
  ET_CHECK_OR_RETURN_ERROR(
      outputs.size() == 1 && outputs[0].isTensor() && outputs[0].toTensor().dim() == 3 &&
          outputs[0].toTensor().size(1) == rows,
      InvalidProgram, "Expected method %s to return one tensor of %zu rows of logits",
      method_name_.c_str(), batch.size());
  const Tensor logits = outputs[0].toTensor();
  const size_t row_bytes = logits.nbytes() / batch.size();
  for (size_t i = 0; i < batch.size(); ++i) {
    Step& step = *batch[i]->step;
    if (step.logits == nullptr) {
      step.logits = empty({1, static_cast<SizesType>(logits.size(2))}, logits.scalar_type());
    }
    const auto* row = static_cast<const uint8_t*>(logits.const_data_ptr()) + i * row_bytes;
    std::memcpy(step.logits->mutable_data_ptr(), row, row_bytes);
  }
  return Error::Ok;
}

Result<int64_t> take_session(std::shared_ptr<SharedDecoder>& decoder,
                             const std::string& method_name,
                             const std::unordered_map<std::string, int64_t>& metadata,
                             int64_t tokens_per_call,
                             const std::function<Result<std::unique_ptr<Module>>()>& make_module) {
  const int64_t session = decoder == nullptr ? -1 : decoder->take();
  if (session >= 0) {
    return session;
  }
  decoder = std::make_shared<SharedDecoder>(ET_UNWRAP(make_module()), method_name,
                                            metadata.at(kMaxSessions), metadata.at(kMaxContextLen),
                                            tokens_per_call);
  return decoder->take();
}

SessionDecoderRunner::SessionDecoderRunner(std::shared_ptr<SharedDecoder> shared, int64_t session,
                                           IOManager* io_manager, std::unique_ptr<Sampler> sampler)
    : TextDecoderRunner(shared->module(), io_manager, shared->method_name(), std::move(sampler)),
      shared_(std::move(shared)) {
  step_.session = session;
}

SessionDecoderRunner::~SessionDecoderRunner() {
  shared_->give_back(step_.session);
}

Result<Tensor> SessionDecoderRunner::step(TensorPtr& input, int64_t start_pos) {
  const auto* tokens = input->const_data_ptr<int64_t>();
  step_.tokens.assign(tokens, tokens + input->numel());
  step_.start_pos = start_pos;
  ET_CHECK_OK_OR_RETURN_ERROR(shared_->step(step_));
  return *step_.logits;
}

}  // namespace executorch::extension::llm
