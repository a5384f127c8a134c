// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/arm/runtime/vgf/dump.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace executorch::backends::arm::vgf {

using runtime::Error;

namespace {

std::string padded(size_t number, size_t digits) {
  const std::string text = std::to_string(number);
  return std::string(digits - std::min(digits, text.size()), '0') + text;
}

Error write(const std::filesystem::path& path, const void* data, size_t num_bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(num_bytes));
  ET_CHECK_OR_RETURN_ERROR(file.good(), AccessFailed, "VgfBackend: %s cannot be written",
                           path.string().c_str());
  return Error::Ok;
}

std::string describe(const std::string& name, size_t index, const Resource& resource) {
  std::string shape;
  for (const int64_t size : resource.sizes) {
    shape += (shape.empty() ? "" : ", ") + std::to_string(size);
  }
  return "    {\"file\": \"" + name + "\", \"io_index\": " + std::to_string(index) +
         ", \"format\": \"" + resource.format->name + "\", \"shape\": [" + shape +
         "], \"num_bytes\": " + std::to_string(resource.num_bytes) + "}";
}

}  // namespace

Error dump_inputs(const char* folder, const Arguments& arguments,
                  const std::vector<Resource>& resources, const std::vector<uint32_t>& inputs) {
  static std::atomic<size_t> calls{0};
  const size_t call = calls++;
  const auto place = std::filesystem::path(folder) / ("call_" + padded(call, 6));
  std::error_code failure;
  std::filesystem::create_directories(place, failure);
  ET_CHECK_OR_RETURN_ERROR(!failure, AccessFailed, "VgfBackend: folder %s cannot be made: %s",
                           place.string().c_str(), failure.message().c_str());
  std::string rows;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = "input_" + padded(i, 3) + "_io_" + std::to_string(i) + ".bin";
    const runtime::TensorView& input = arguments.inputs[i];
    ET_CHECK_OK_OR_RETURN_ERROR(write(place / name, input.data<void>(), input.nbytes()));
    rows += (rows.empty() ? "" : ",\n") + describe(name, i, resources[inputs[i]]);
  }
  const std::string metadata = "{\n  \"format_version\": 1,\n  \"call\": " + std::to_string(call) +
                               ",\n  \"inputs\": [\n" + rows + "\n  ]\n}\n";
  return write(place / "metadata.json", metadata.data(), metadata.size());
}

}  // namespace executorch::backends::arm::vgf
