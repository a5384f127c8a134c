// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/training/module/state_dict_util.h>

#include <cstdint>
#include <utility>
#include <vector>

#include <executorch/runtime/core/tensor_layout.h>

namespace executorch::extension::training {

using runtime::Result;

Result<std::map<std::string, TensorPtr>> load_state_dict(const runtime::NamedDataMap& data) {
  std::map<std::string, TensorPtr> tensors;
  const uint32_t count = ET_UNWRAP(data.get_num_keys());
  for (uint32_t i = 0; i < count; ++i) {
    const char* key = ET_UNWRAP(data.get_key(i));
    const runtime::TensorLayout layout = ET_UNWRAP(data.get_tensor_layout(key));
    std::vector<uint8_t> bytes(layout.nbytes());
    ET_CHECK_OK_OR_RETURN_ERROR(data.load_data_into(key, bytes.data(), bytes.size()));
    tensors[key] =
        make_tensor_ptr({layout.sizes().begin(), layout.sizes().end()}, std::move(bytes),
                        {layout.dim_order().begin(), layout.dim_order().end()}, {},
                        layout.scalar_type(), executorch::aten::TensorShapeDynamism::STATIC);
  }
  return tensors;
}

}  // namespace executorch::extension::training
