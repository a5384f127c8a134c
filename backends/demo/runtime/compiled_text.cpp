// SPDX-License-Identifier: BSD-3-Clause
// Reader of the demo compiler's text. Every step checks what is left.
#include <executorch/backends/demo/runtime/compiled_text.h>

#include <cinttypes>
#include <cstring>
#include <string_view>

namespace executorch::backends::demo {

using runtime::Error;
using runtime::Result;

namespace {

constexpr uint32_t kMaxOps = 1024;
constexpr uint32_t kMaxOutputs = 64;

struct OpName {
  std::string_view name;
  OpKind kind;
};
constexpr OpName kNames[] = {
    {"demo::aten.add.Tensor", OpKind::kAdd},
    {"demo::aten.mul.Tensor", OpKind::kMul},
    {"demo::aten.mm.default", OpKind::kMm},
    {"demo::aten.sin.default", OpKind::kSin},
};

class TextReader {
 public:
  TextReader(const char* text, size_t size) : rest_(text, size) {}

  bool done() const { return rest_.empty(); }

  /// Takes `word` if it comes next.
  bool accept(std::string_view word) {
    const bool found = rest_.substr(0, word.size()) == word;
    if (found) {
      rest_.remove_prefix(word.size());
    }
    return found;
  }

  Error expect(std::string_view word) {
    ET_CHECK_OR_RETURN_ERROR(accept(word), DelegateInvalidCompatibility,
                             "expected \"%.*s\", %zu bytes before the end of the compiled text",
                             static_cast<int>(word.size()), word.data(), rest_.size());
    return Error::Ok;
  }

  Result<uint32_t> number() {
    uint64_t value = 0;
    size_t digits = 0;
    while (digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9') {
      value = value * 10 + static_cast<uint64_t>(rest_[digits++] - '0');
      ET_CHECK_OR_RETURN_ERROR(value <= UINT32_MAX, DelegateInvalidCompatibility,
                               "a number of the compiled text exceeds 32 bits");
    }
    ET_CHECK_OR_RETURN_ERROR(digits > 0, DelegateInvalidCompatibility,
                             "expected a number, %zu bytes before the end of the compiled text",
                             rest_.size());
    rest_.remove_prefix(digits);
    return static_cast<uint32_t>(value);
  }

  Result<OpKind> op_name() {
    const std::string_view name = rest_.substr(0, rest_.find(','));
    for (const OpName& known : kNames) {
      if (known.name == name) {
        rest_.remove_prefix(name.size());
        return known.kind;
      }
    }
    ET_LOG(Error, "operator %.*s: expected add, mul, mm or sin",
           static_cast<int>(name.size() < 64 ? name.size() : 64), name.data());
    return Error::NotSupported;
  }

 private:
  std::string_view rest_;
};

Error read_outputs(TextReader& text, DemoOp& op, uint64_t& all) {
  do {
    const uint32_t output = ET_UNWRAP(text.number());
    ET_CHECK_OR_RETURN_ERROR(
        output < kMaxOutputs && (all >> output & 1) == 0, DelegateInvalidCompatibility,
        "output %" PRIu32 ": given twice, or too many", static_cast<uint32_t>(output));
    op.outputs |= uint64_t{1} << output;
    all |= uint64_t{1} << output;
  } while (text.accept(","));
  return Error::Ok;
}

Error read_op(TextReader& text, DemoOp& op, uint64_t& outputs) {
  op = DemoOp{};
  ET_CHECK_OK_OR_RETURN_ERROR(text.expect("op:"));
  op.kind = ET_UNWRAP(text.op_name());
  ET_CHECK_OK_OR_RETURN_ERROR(text.expect(", numel:"));
  op.numel = ET_UNWRAP(text.number());
  ET_CHECK_OK_OR_RETURN_ERROR(text.expect(", dtype:"));
  ET_CHECK_OR_RETURN_ERROR(text.accept("torch.float32"), NotSupported, "expected float32 tensors");
  ET_CHECK_OK_OR_RETURN_ERROR(text.expect("<debug_handle>"));
  op.debug_handle = ET_UNWRAP(text.number());
  op.wired = text.accept("<args>");
  for (size_t i = 0; op.wired && i < num_operands(op.kind); ++i) {
    if (i > 0) {
      ET_CHECK_OK_OR_RETURN_ERROR(text.expect(","));
    }
    op.operands[i] = ET_UNWRAP(text.number());
  }
  if (text.accept("<out>")) {
    ET_CHECK_OK_OR_RETURN_ERROR(read_outputs(text, op, outputs));
  }
  return text.expect("#");
}

}  // namespace

Result<CompiledText> read_compiled_text(const char* source, size_t size,
                                        runtime::MemoryAllocator& allocator) {
  TextReader text(source, size);
  const uint32_t count = ET_UNWRAP(text.number());
  ET_CHECK_OR_RETURN_ERROR(count > 0 && count <= kMaxOps, DelegateInvalidCompatibility,
                           "%" PRIu32 " operators: expected 1 to %" PRIu32,
                           static_cast<uint32_t>(count), static_cast<uint32_t>(kMaxOps));
  if (text.accept("version:")) {
    ET_CHECK_OK_OR_RETURN_ERROR(text.expect("0"));
  }
  ET_CHECK_OK_OR_RETURN_ERROR(text.expect("#"));
  DemoOp* ops = allocator.allocateList<DemoOp>(count);
  if (ops == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  uint64_t outputs = 0;
  for (uint32_t i = 0; i < count; ++i) {
    ET_CHECK_OK_OR_RETURN_ERROR(read_op(text, ops[i], outputs));
  }
  ET_CHECK_OR_RETURN_ERROR(text.done(), DelegateInvalidCompatibility,
                           "bytes after the last operator of the compiled text");
  if (outputs == 0) {
    ops[count - 1].outputs = outputs = 1;
  }
  ET_CHECK_OR_RETURN_ERROR((outputs & (outputs + 1)) == 0, DelegateInvalidCompatibility,
                           "the outputs of the compiled text leave a number out");
  size_t num_outputs = 0;
  while (num_outputs < kMaxOutputs && (outputs >> num_outputs & 1) != 0) {
    ++num_outputs;
  }
  return CompiledText{{ops, count}, num_outputs};
}

}  // namespace executorch::backends::demo
