// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/examples/qualcomm/oss_scripts/llama/static_decoder.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace executorch::examples::qualcomm {

using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::Tensor;
using executorch::extension::make_tensor_ptr;
using executorch::extension::Module;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::Result;
using executorch::runtime::TensorInfo;

namespace {

// Of tokens that are not seen; what the model was calibrated on.
constexpr float kHidden = -255.0f;
constexpr size_t kTokens = 0, kPositions = 1, kMask = 2, kFirstCache = 3;

std::vector<SizesType> sizes_of(const TensorInfo& info) {
  return {info.sizes().begin(), info.sizes().end()};
}

}  // namespace

Result<std::unique_ptr<StaticDecoder>> StaticDecoder::load(Module* module,
                                                           const std::string& prompt_method,
                                                           const std::string& answer_method) {
  std::unique_ptr<StaticDecoder> made(new StaticDecoder(module));
  made->prompt_ = ET_UNWRAP(made->make_part(prompt_method));
  made->answer_ = ET_UNWRAP(made->make_part(answer_method));
  return made;
}

Result<StaticDecoder::Part> StaticDecoder::make_part(const std::string& name) {
  ET_CHECK_OK_OR_RETURN_ERROR(module_->load_method(name));
  const auto meta = ET_UNWRAP(module_->method_meta(name));
  const size_t num_inputs = meta.num_inputs();
  ET_CHECK_OR_RETURN_ERROR(
      num_inputs > kFirstCache && meta.num_outputs() == num_inputs - kFirstCache + 1,
      InvalidArgument,
      "%s: expected tokens, positions, a mask and caches, and logits and as many new rows, found "
      "%zu inputs and %zu outputs",
      name.c_str(), num_inputs, meta.num_outputs());
  const auto tokens = ET_UNWRAP(meta.input_tensor_meta(kTokens));
  const auto positions = ET_UNWRAP(meta.input_tensor_meta(kPositions));
  const auto mask = ET_UNWRAP(meta.input_tensor_meta(kMask));
  ET_CHECK_OR_RETURN_ERROR(
      tokens.scalar_type() == ScalarType::Int && positions.scalar_type() == ScalarType::Int &&
          mask.scalar_type() == ScalarType::Float && tokens.sizes().size() == 2 &&
          mask.sizes().size() == 3,
      InvalidArgument, "%s: expected tokens and positions of int32, and a mask of float32",
      name.c_str());
  Part part;
  part.name = name;
  part.length = static_cast<size_t>(tokens.sizes()[1]);
  const auto width = static_cast<size_t>(mask.sizes()[2]);
  ET_CHECK_OR_RETURN_ERROR(
      part.length > 0 && width > part.length && positions.sizes().size() == 1 &&
          static_cast<size_t>(positions.sizes()[0]) == part.length &&
          static_cast<size_t>(mask.sizes()[1]) == part.length,
      InvalidArgument, "%s: expected a mask of a row for each token", name.c_str());
  const size_t rows = width - part.length;
  if (caches_.empty()) {
    num_rows_ = rows;
  }
  const bool is_first = caches_.empty();
  for (size_t i = kFirstCache; i < num_inputs; ++i) {
    const auto cache = ET_UNWRAP(meta.input_tensor_meta(i));
    const auto made = ET_UNWRAP(meta.output_tensor_meta(i - kFirstCache + 1));
    const size_t rank = cache.sizes().size();
    size_t numel = 1, new_numel = 1;
    for (const auto size : cache.sizes()) {
      numel *= static_cast<size_t>(size);
    }
    for (const auto size : made.sizes()) {
      new_numel *= static_cast<size_t>(size);
    }
    ET_CHECK_OR_RETURN_ERROR(
        cache.scalar_type() == ScalarType::Float && made.scalar_type() == ScalarType::Float &&
            rank >= 3 && static_cast<size_t>(cache.sizes()[rank - 2]) == rows &&
            rows == num_rows_ && new_numel * rows == numel * part.length &&
            (is_first ||
             (i - kFirstCache < caches_.size() && caches_[i - kFirstCache].size() == numel)),
        InvalidArgument,
        "%s: expected as input %zu a cache of float32 with %zu rows, as the others", name.c_str(),
        i, num_rows_);
    if (is_first) {
      caches_.emplace_back(numel, 0.0f);
    }
  }
  ET_CHECK_OR_RETURN_ERROR(caches_.size() == num_inputs - kFirstCache, InvalidArgument,
                           "%s: expected %zu caches, found %zu", name.c_str(), caches_.size(),
                           num_inputs - kFirstCache);
  if (is_first) {
    for (size_t i = 0; i < caches_.size(); ++i) {
      const auto cache = ET_UNWRAP(meta.input_tensor_meta(i + kFirstCache));
      cache_tensors_.push_back(make_tensor_ptr(sizes_of(cache), caches_[i].data()));
    }
  }
  part.tokens.resize(part.length);
  part.positions.resize(part.length);
  part.mask.resize(part.length * width);
  part.tokens_tensor = make_tensor_ptr(sizes_of(tokens), part.tokens.data(), ScalarType::Int);
  part.positions_tensor =
      make_tensor_ptr(sizes_of(positions), part.positions.data(), ScalarType::Int);
  part.mask_tensor = make_tensor_ptr(sizes_of(mask), part.mask.data());
  return part;
}

Result<Tensor> StaticDecoder::read(const std::vector<uint64_t>& tokens, bool is_prompt,
                                   size_t* num_last) {
  ET_CHECK_OR_RETURN_ERROR(!tokens.empty(), InvalidArgument, "expected a token or more");
  Part& part = is_prompt ? prompt_ : answer_;
  for (size_t start = 0;; start += part.length) {
    const size_t count = std::min(part.length, tokens.size() - start);
    const Tensor logits = ET_UNWRAP(call(part, tokens.data() + start, count));
    if (start + count == tokens.size()) {
      *num_last = count;
      return logits;
    }
  }
}

Result<Tensor> StaticDecoder::call(Part& part, const uint64_t* tokens, size_t count) {
  ET_CHECK_OR_RETURN_ERROR(position_ + count <= num_rows_, InvalidArgument,
                           "expected %zu tokens at most, which the caches hold, found %zu",
                           num_rows_, position_ + count);
  const size_t width = num_rows_ + part.length;
  std::fill(part.mask.begin(), part.mask.end(), kHidden);
  for (size_t i = 0; i < part.length; ++i) {
    part.tokens[i] = i < count ? static_cast<int32_t>(tokens[i]) : 0;
    part.positions[i] = static_cast<int32_t>(std::min(position_ + i, num_rows_ - 1));
    float* row = part.mask.data() + i * width;
    std::fill(row, row + position_, 0.0f);
    std::fill(row + num_rows_, row + num_rows_ + i + 1, 0.0f);
  }
  std::vector<EValue> inputs = {*part.tokens_tensor, *part.positions_tensor, *part.mask_tensor};
  for (const auto& each : cache_tensors_) {
    inputs.emplace_back(*each);
  }
  const auto outputs = ET_UNWRAP(module_->execute(part.name, inputs));
  for (size_t i = 0; i < caches_.size(); ++i) {
    put(outputs[i + 1].toTensor(), caches_[i], part.length, count);
  }
  position_ += count;
  return outputs[0].toTensor();
}

// Rows of each head lie together, in the cache and in what is new.
void StaticDecoder::put(const Tensor& made, std::vector<float>& cache, size_t length,
                        size_t count) const {
  const auto width = static_cast<size_t>(made.size(made.dim() - 1));
  const float* source = made.const_data_ptr<float>();
  for (size_t head = 0; head < cache.size() / (num_rows_ * width); ++head) {
    std::memcpy(cache.data() + (head * num_rows_ + position_) * width,
                source + head * length * width, count * width * sizeof(float));
  }
}

}  // namespace executorch::examples::qualcomm
