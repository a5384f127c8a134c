// SPDX-License-Identifier: BSD-3-Clause
// Runs calls written by cpp_calls.py on a Module and writes their outputs back: one loaded program,
// any methods, any input sizes, state carried from call to call.
//   module_calls model.pte calls.bin outputs.bin [data.ptd...]
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>

namespace {

using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::extension::Module;
using executorch::extension::TensorPtr;
using executorch::runtime::Error;
using executorch::runtime::EValue;

// Tags of values that are not tensors; tensors carry their scalar type, which is smaller.
constexpr uint8_t kInt = 255;
constexpr uint8_t kDouble = 254;
constexpr uint8_t kBool = 253;

// Reads the flat encoding; running off the end ends the program, the files are our own.
class Reader {
 public:
  explicit Reader(std::vector<char> bytes) : bytes_(std::move(bytes)) {}

  template <class T>
  T take() {
    T value;
    copy(&value, sizeof(T));
    return value;
  }

  void copy(void* to, size_t count) {
    if (bytes_.size() - at_ < count) {
      std::fprintf(stderr, "calls file ends after %zu bytes\n", bytes_.size());
      std::exit(2);
    }
    std::memcpy(to, bytes_.data() + at_, count);
    at_ += count;
  }

 private:
  std::vector<char> bytes_;
  size_t at_ = 0;
};

class Writer {
 public:
  template <class T>
  void put(T value) {
    put_bytes(&value, sizeof(T));
  }

  void put_bytes(const void* from, size_t count) {
    const char* bytes = static_cast<const char*>(from);
    bytes_.insert(bytes_.end(), bytes, bytes + count);
  }

  const std::vector<char>& bytes() const { return bytes_; }

 private:
  std::vector<char> bytes_;
};

EValue read_value(Reader& reader, std::vector<TensorPtr>& keep_alive) {
  const auto tag = reader.take<uint8_t>();
  if (tag == kInt) {
    return EValue(reader.take<int64_t>());
  }
  if (tag == kDouble) {
    return EValue(reader.take<double>());
  }
  if (tag == kBool) {
    return EValue(reader.take<uint8_t>() != 0);
  }
  const auto rank = reader.take<uint8_t>();
  std::vector<SizesType> sizes(rank);
  for (auto& size : sizes) {
    size = reader.take<int32_t>();
  }
  std::vector<uint8_t> data(reader.take<uint64_t>());
  reader.copy(data.data(), data.size());
  keep_alive.push_back(executorch::extension::make_tensor_ptr(std::move(sizes), std::move(data),
                                                              static_cast<ScalarType>(tag)));
  return EValue(keep_alive.back());
}

bool write_value(const EValue& value, Writer& writer) {
  if (value.isInt()) {
    writer.put(kInt);
    writer.put(value.toInt());
  } else if (value.isDouble()) {
    writer.put(kDouble);
    writer.put(value.toDouble());
  } else if (value.isBool()) {
    writer.put(kBool);
    writer.put<uint8_t>(value.toBool());
  } else if (value.isTensor()) {
    const auto& tensor = value.toTensor();
    writer.put(static_cast<uint8_t>(tensor.scalar_type()));
    writer.put(static_cast<uint8_t>(tensor.dim()));
    for (auto size : tensor.sizes()) {
      writer.put<int32_t>(size);
    }
    writer.put<uint64_t>(tensor.nbytes());
    writer.put_bytes(tensor.const_data_ptr(), tensor.nbytes());
  } else {
    return false;
  }
  return true;
}

// One call; 0, or the exit code after saying what went wrong.
int run_call(Module& module, Reader& reader, Writer& writer) {
  std::string method(reader.take<uint32_t>(), '\0');
  reader.copy(method.data(), method.size());
  std::vector<TensorPtr> keep_alive;
  std::vector<EValue> inputs;
  const auto count = reader.take<uint32_t>();
  for (uint32_t i = 0; i < count; ++i) {
    inputs.push_back(read_value(reader, keep_alive));
  }
  const auto outputs = module.execute(method, inputs);
  if (!outputs.ok()) {
    std::fprintf(stderr, "%s failed: error 0x%x\n", method.c_str(),
                 static_cast<unsigned>(outputs.error()));
    return 3;
  }
  writer.put(static_cast<uint32_t>(outputs->size()));
  for (const auto& value : *outputs) {
    if (!write_value(value, writer)) {
      std::fprintf(stderr, "%s: an output is neither tensor nor number\n", method.c_str());
      return 4;
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: module_calls model.pte calls.bin outputs.bin [data.ptd...]\n");
    return 2;
  }
  std::ifstream file(argv[2], std::ios::binary);
  Reader reader({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
  std::vector<std::string> data_files(argv + 4, argv + argc);
  Module module(argv[1], data_files);
  if (const Error error = module.load(); error != Error::Ok) {
    std::fprintf(stderr, "load failed: error 0x%x\n", static_cast<unsigned>(error));
    return 3;
  }
  Writer writer;
  const auto calls = reader.take<uint32_t>();
  for (uint32_t i = 0; i < calls; ++i) {
    if (const int code = run_call(module, reader, writer); code != 0) {
      return code;
    }
  }
  std::ofstream out(argv[3], std::ios::binary);
  out.write(writer.bytes().data(), static_cast<std::streamsize>(writer.bytes().size()));
  return out.good() ? 0 : 5;
}
