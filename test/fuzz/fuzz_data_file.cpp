// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target for .ptd files: load, and read every entry in every way.
//   fuzz_data_file test/fuzz/corpus/ptd -max_total_time=60
#include <vector>

#include <executorch/extension/flat_tensor/flat_tensor_data_map.h>
#include <executorch/runtime/executor/test/memory_loader.h>
#include <executorch/runtime/platform/platform.h>
#include <executorch/runtime/platform/runtime.h>

namespace {

using namespace executorch::runtime;

// Entries larger than this are not copied; a file may name any size.
constexpr size_t kMaxBytes = 1 << 20;

void discard_log(et_timestamp_t, et_pal_log_level_t, const char*, const char*, size_t, const char*,
                 size_t) {}

unsigned read_all(const FreeableBuffer& buffer) {
  const auto* bytes = static_cast<const uint8_t*>(buffer.data());
  unsigned sum = 0;
  for (size_t i = 0; i < buffer.size(); ++i) {
    sum += bytes[i];
  }
  return sum;
}

void exercise(const NamedDataMap& map) {
  const Result<uint32_t> num_keys = map.get_num_keys();
  for (uint32_t i = 0; num_keys.ok() && i < *num_keys; ++i) {
    const Result<const char*> key = map.get_key(i);
    if (!key.ok()) {
      continue;
    }
    const Result<FreeableBuffer> data = map.get_data(*key);
    volatile unsigned sink = data.ok() ? read_all(*data) : 0;
    (void)sink;
    const Result<const TensorLayout> layout = map.get_tensor_layout(*key);
    const size_t size = layout.ok() ? layout->nbytes() : data.ok() ? data->size() : 0;
    if (size < kMaxBytes) {
      std::vector<uint8_t> copy(size);
      (void)map.load_data_into(*key, copy.data(), copy.size());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  runtime_init();
  register_pal(PalImpl::create(discard_log, __FILE__));
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const testing::AlignedFile file(std::vector<uint8_t>(data, data + size));
  testing::MemoryLoader loader(file);
  const auto map = executorch::extension::FlatTensorDataMap::load(&loader);
  if (map.ok()) {
    exercise(*map);
  }
  return 0;
}
