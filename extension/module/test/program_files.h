// SPDX-License-Identifier: BSD-3-Clause
// Programs in files, and results as numbers, for the tests of Module.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/executor/test/program_builder.h>

namespace executorch::extension::program_files {

/// Its path, in the tests' folder: of one test program at a time, named after it.
inline std::string write_file(const std::string& name, const std::vector<uint8_t>& bytes) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  return path;
}

/// The same of a program.
inline std::string write_program(const std::string& name,
                                 executorch::runtime::testing::ProgramBuilder builder) {
  return write_file(name, builder.build());
}

/// Of a tensor of float32.
inline std::vector<float> floats(const executorch::runtime::EValue& value) {
  const auto& tensor = value.toTensor();
  return {tensor.const_data_ptr<float>(), tensor.const_data_ptr<float>() + tensor.numel()};
}

}  // namespace executorch::extension::program_files
