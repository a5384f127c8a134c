// SPDX-License-Identifier: BSD-3-Clause
// Runs a fuzz target over the files of a folder, and over corrupted copies of each: fuzz targets
// stay working without clang. usage: fuzz_X_replay FOLDER
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int argc, char** argv) {
  LLVMFuzzerInitialize(&argc, &argv);
  constexpr int kCopies = 2000;
  size_t num_files = 0;
  std::mt19937 random(7);
  for (const auto& entry : std::filesystem::directory_iterator(argc > 1 ? argv[1] : ".")) {
    std::ifstream stream(entry.path(), std::ios::binary);
    const std::vector<uint8_t> seed{std::istreambuf_iterator<char>(stream), {}};
    LLVMFuzzerTestOneInput(seed.data(), seed.size());
    for (int i = 0; i < kCopies && !seed.empty(); ++i) {
      std::vector<uint8_t> copy = seed;
      for (unsigned j = 0; j <= random() % 4; ++j) {
        copy[random() % copy.size()] = static_cast<uint8_t>(random());
      }
      LLVMFuzzerTestOneInput(copy.data(), random() % 8 == 0 ? random() % copy.size() : copy.size());
    }
    ++num_files;
  }
  std::printf("%zu seeds\n", num_files);
  return num_files == 0 ? 1 : 0;
}
