// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/training/checkpoint/checkpoint.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/flat_tensor/flat_tensor_data_map.h>
#include <executorch/extension/flat_tensor/serialize/serialize.h>
#include <executorch/extension/tensor/tensor_ptr.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_functions.h>

namespace executorch::extension::training {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using runtime::Error;
using runtime::FreeableBuffer;
using runtime::Result;
using runtime::TensorLayout;

namespace {

using TensorMap = std::map<std::string, Tensor>;

constexpr size_t kAlignment = 16;

// CRC-32 of IEEE 802.3, reflected, one byte at a time.
class Crc32 {
 public:
  void add(const void* data, size_t size) {
    const auto* bytes = static_cast<const uint8_t*>(data);
    for (size_t i = 0; i < size; ++i) {
      value_ = table()[(value_ ^ bytes[i]) & 0xff] ^ (value_ >> 8);
    }
  }
  template <typename List>
  void add_list(const List& list) {
    const auto count = static_cast<uint32_t>(list.size());
    add(&count, sizeof(count));
    add(list.data(), list.size() * sizeof(*list.data()));
  }
  int64_t value() const { return value_ ^ 0xffffffffU; }

 private:
  static const std::array<uint32_t, 256>& table() {
    static const std::array<uint32_t, 256> values = [] {
      std::array<uint32_t, 256> made{};
      for (uint32_t i = 0; i < made.size(); ++i) {
        made[i] = i;
        for (int bit = 0; bit < 8; ++bit) {
          made[i] = (made[i] >> 1) ^ ((made[i] & 1) != 0 ? 0xedb88320U : 0U);
        }
      }
      return made;
    }();
    return values;
  }

  uint32_t value_ = 0xffffffffU;
};

// `layout`: a Tensor or a TensorLayout.
template <typename Layout>
void add_tensor(Crc32& crc, std::string_view name, const Layout& layout, const void* data) {
  const auto type = static_cast<int8_t>(layout.scalar_type());
  crc.add_list(name);
  crc.add(&type, sizeof(type));
  crc.add_list(layout.sizes());
  crc.add_list(layout.dim_order());
  crc.add(data, layout.nbytes());
}

Result<TensorMap> joined(const std::map<std::string_view, Tensor>& parameters,
                         const TensorMap& state) {
  TensorMap all = state;
  for (const auto& [name, tensor] : parameters) {
    ET_CHECK_OR_RETURN_ERROR(all.emplace(name, tensor).second, InvalidArgument,
                             "%s is the name of a parameter and of a state",
                             std::string(name).c_str());
  }
  for (const auto& [name, tensor] : all) {
    ET_CHECK_OR_RETURN_ERROR(tensor.const_data_ptr() != nullptr || tensor.nbytes() == 0,
                             InvalidArgument, "Tensor %s has no memory", name.c_str());
  }
  ET_CHECK_OR_RETURN_ERROR(all.count(kChecksumName) == 0, InvalidArgument,
                           "%s is the name of the checksum; name the tensor otherwise",
                           kChecksumName);
  return all;
}

// A file's data by name; all of it, checked.
Result<std::map<std::string_view, FreeableBuffer>> checked_data(const std::string& path,
                                                                const FlatTensorDataMap& file) {
  std::map<std::string_view, FreeableBuffer> data;
  const uint32_t count = ET_UNWRAP(file.get_num_keys());
  for (uint32_t i = 0; i < count; ++i) {
    const char* key = ET_UNWRAP(file.get_key(i));
    data.emplace(key, ET_UNWRAP(file.get_data(key)));
  }
  const auto sum = data.find(kChecksumName);
  ET_CHECK_OR_RETURN_ERROR(
      sum != data.end() && sum->second.size() == sizeof(int64_t), InvalidExternalData,
      "%s has no checksum %s: it is no checkpoint, or corrupted", path.c_str(), kChecksumName);
  int64_t expected = 0;
  std::memcpy(&expected, sum->second.data(), sizeof(expected));
  Crc32 crc;
  for (const auto& [key, buffer] : data) {
    if (key != kChecksumName) {
      const TensorLayout layout = ET_UNWRAP(file.get_tensor_layout(key));
      ET_CHECK_OR_RETURN_ERROR(buffer.size() == layout.nbytes(), InvalidExternalData,
                               "%s is corrupted: tensor %s has %zu bytes, its sizes say %zu",
                               path.c_str(), key.data(), buffer.size(), layout.nbytes());
      add_tensor(crc, key, layout, buffer.data());
    }
  }
  ET_CHECK_OR_RETURN_ERROR(crc.value() == expected, InvalidExternalData,
                           "%s is corrupted: its checksum is %lld, its tensors have %lld; take an "
                           "earlier checkpoint",
                           path.c_str(), static_cast<long long>(expected),
                           static_cast<long long>(crc.value()));
  return data;
}

Error check_fit(const FlatTensorDataMap& file, const std::string& name, const Tensor& tensor) {
  const TensorLayout layout =
      ET_UNWRAP(file.get_tensor_layout(name), "The checkpoint has no tensor %s", name.c_str());
  const bool fits =
      layout.scalar_type() == tensor.scalar_type() &&
      runtime::ArrayRef<int32_t>(layout.sizes().data(), layout.sizes().size()) == tensor.sizes() &&
      runtime::ArrayRef<uint8_t>(layout.dim_order().data(), layout.dim_order().size()) ==
          tensor.dim_order();
  ET_CHECK_OR_RETURN_ERROR(fits, InvalidArgument,
                           "Tensor %s of the checkpoint has another type, other sizes or another "
                           "order of dimensions: expected %zu elements of type %s in %zu "
                           "dimensions, found %zu bytes of type %s in %zu",
                           name.c_str(), static_cast<size_t>(tensor.numel()),
                           runtime::toString(tensor.scalar_type()),
                           static_cast<size_t>(tensor.dim()), layout.nbytes(),
                           runtime::toString(layout.scalar_type()), layout.sizes().size());
  return Error::Ok;
}

}  // namespace

Error save_checkpoint(const std::string& path, const std::map<std::string_view, Tensor>& parameters,
                      const TensorMap& state) {
  TensorMap all = ET_UNWRAP(joined(parameters, state));
  Crc32 crc;
  for (const auto& [name, tensor] : all) {
    add_tensor(crc, name, tensor, tensor.const_data_ptr());
  }
  const TensorPtr sum = make_tensor_ptr<int64_t>({1}, {crc.value()});
  all.emplace(kChecksumName, *sum);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // experimental, as this is
  return flat_tensor::save_ptd(path, all, kAlignment);
#pragma GCC diagnostic pop
}

Error load_checkpoint(const std::string& path, const std::map<std::string_view, Tensor>& parameters,
                      const TensorMap& state) {
  const TensorMap wanted = ET_UNWRAP(joined(parameters, state));
  FileDataLoader loader = ET_UNWRAP(FileDataLoader::from(path.c_str()));
  const FlatTensorDataMap file =
      ET_UNWRAP(FlatTensorDataMap::load(&loader), "%s cannot be read", path.c_str());
  const auto data = ET_UNWRAP(checked_data(path, file));
  for (const auto& [name, tensor] : wanted) {
    ET_CHECK_OK_OR_RETURN_ERROR(check_fit(file, name, tensor));
  }
  for (const auto& [name, tensor] : wanted) {
    if (tensor.nbytes() > 0) {
      std::memcpy(tensor.mutable_data_ptr(), data.at(name).data(), tensor.nbytes());
    }
  }
  return Error::Ok;
}

}  // namespace executorch::extension::training
