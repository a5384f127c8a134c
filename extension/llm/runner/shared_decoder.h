// SPDX-License-Identifier: BSD-3-Clause
// SharedDecoder: the method of a program of several sessions (export.max_sessions), which threads
// call together: one pass over the weights serves all of them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <executorch/extension/llm/runner/io_manager/io_manager.h>
#include <executorch/extension/llm/runner/text_decoder_runner.h>
#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/result.h>

namespace executorch::extension::llm {

// The method takes tokens (1, n), their places (n), session * context_length + position, and the
// tokens whose logits are wanted (m); it gives logits (1, m, vocabulary). All of it from any
// thread.
class SharedDecoder {
 public:
  SharedDecoder(std::unique_ptr<Module> module, std::string method_name, int64_t num_sessions,
                int64_t context_length, int64_t tokens_per_call);
  SharedDecoder(const SharedDecoder&) = delete;
  SharedDecoder& operator=(const SharedDecoder&) = delete;

  // Loads the method, once. Errors of Module::load_method().
  runtime::Error load();
  bool is_loaded() const;

  // A session that nobody has, or -1; until give_back().
  int64_t take();
  void give_back(int64_t session);

  // Tokens of one session, from a position of it on, and the logits of the last of them.
  struct Step {
    int64_t session = 0;
    std::vector<int64_t> tokens;
    int64_t start_pos = 0;
    TensorPtr logits;  // (1, vocabulary); its own memory
  };
  // Waits until it is done, perhaps with steps of other sessions. One at a time of each session.
  // InvalidArgument for tokens that a call or the session's context has no room for; InvalidProgram
  // unless the method gives one tensor of logits; errors of Module::execute(), which steps of
  // others do not share.
  runtime::Error step(Step& step);

  Module* module() const { return module_.get(); }
  const std::string& method_name() const { return method_name_; }

 private:
  struct Waiting {
    Step* step;
    bool is_done = false;
    runtime::Error error = runtime::Error::Ok;
  };
  using Batch = std::vector<Waiting*>;
  using Clock = std::chrono::steady_clock;

  bool all_expected_wait() const;
  Batch next_batch();
  void lead(std::unique_lock<std::mutex>& lock);
  void run(const Batch& batch);
  runtime::Error execute(const Batch& batch);

  const std::unique_ptr<Module> module_;
  const std::string method_name_;
  const int64_t context_length_, tokens_per_call_;

  mutable std::mutex mutex_;
  std::condition_variable arrived_, done_;
  std::vector<bool> is_taken_;
  std::vector<int64_t> expected_;  // sessions of the last call
  Batch waiting_;
  Clock::duration last_call_{};
  bool is_loaded_ = false;
  bool is_running_ = false;  // a thread is in lead()
};

// Takes a session of `decoder`, or, where that is null or has none free, of a new one, which it is
// then, of the method's sessions in a module of make_module(), whose errors it has. metadata: see
// get_llm_metadata(). One thread at a time.
runtime::Result<int64_t> take_session(
    std::shared_ptr<SharedDecoder>& decoder, const std::string& method_name,
    const std::unordered_map<std::string, int64_t>& metadata, int64_t tokens_per_call,
    const std::function<runtime::Result<std::unique_ptr<Module>>()>& make_module);

// One session of a SharedDecoder; takes it, and gives it back.
class SessionDecoderRunner : public TextDecoderRunner {
 public:
  // Borrows io_manager, which is not asked for inputs. `session` is one that was taken.
  SessionDecoderRunner(std::shared_ptr<SharedDecoder> shared, int64_t session,
                       IOManager* io_manager, std::unique_ptr<Sampler> sampler = nullptr);
  ~SessionDecoderRunner() override;

  // The logits live until the next call.
  runtime::Result<executorch::aten::Tensor> step(TensorPtr& input, int64_t start_pos) override;
  runtime::Error load() override { return shared_->load(); }
  bool is_method_loaded() override { return shared_->is_loaded(); }

 private:
  std::shared_ptr<SharedDecoder> shared_;
  SharedDecoder::Step step_;
};

}  // namespace executorch::extension::llm
