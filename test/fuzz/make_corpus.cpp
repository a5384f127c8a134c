// SPDX-License-Identifier: BSD-3-Clause
// Writes the seeds of the fuzz targets: one small program of each shape, and small data files.
// usage: make_corpus FOLDER, which has the subfolders pte and ptd
// save_ptd() is experimental.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <cstdio>
#include <map>
#include <string>

#include <executorch/extension/flat_tensor/serialize/serialize.h>
#include <executorch/runtime/executor/test/test_kernels.h>

using namespace executorch::runtime::testing;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;

namespace {

bool write(const std::string& path, const std::vector<uint8_t>& bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  const bool written =
      file != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (file != nullptr) {
    std::fclose(file);
  }
  if (!written) {
    std::fprintf(stderr, "cannot write %s\n", path.c_str());
  }
  return written;
}

bool write_programs(const std::string& folder) {
  const struct {
    const char* name;
    ProgramBuilder (*make)();
  } kSeeds[] = {
      {"constant", add_program},
      {"dynamic", dynamic_program},
      {"inline_constant", inline_constant_program},
      {"stateful", stateful_program},
      {"branching", branching_program},
      {"looping", looping_program},
      {"two_methods", two_method_program},
      {"symbolic", symbolic_program},
      {"every_value", every_value_program},
      {"ranged", ranged_program},
      {"named", named_program},
  };
  for (const auto& seed : kSeeds) {
    if (!write(folder + "/" + seed.name + ".pte", seed.make().build())) {
      return false;
    }
  }
  return true;
}

bool write_data_files(const std::string& folder) {
  float data[6] = {1, 2, 3, 4, 5, 6};
  int32_t sizes[] = {2, 3};
  int32_t one[] = {1};
  uint8_t dim_order[] = {0, 1};
  TensorImpl matrix(ScalarType::Float, 2, sizes, data, dim_order);
  TensorImpl element(ScalarType::Float, 1, one, data, dim_order);
  const std::map<std::string, Tensor> one_tensor = {{"a", Tensor(&matrix)}};
  const std::map<std::string, Tensor> two_tensors = {{"linear.bias", Tensor(&element)},
                                                     {"linear.weight", Tensor(&matrix)}};
  using executorch::extension::flat_tensor::save_ptd;
  using executorch::runtime::Error;
  return save_ptd(folder + "/one.ptd", one_tensor, 16) == Error::Ok &&
         save_ptd(folder + "/two.ptd", two_tensors, 64) == Error::Ok;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  const std::string folder = argv[1];
  return write_programs(folder + "/pte") && write_data_files(folder + "/ptd") ? 0 : 1;
}
