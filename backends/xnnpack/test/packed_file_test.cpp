// SPDX-License-Identifier: BSD-3-Clause
// Packed weights in a file: nothing is packed that it holds, and the numbers stay; what is wrong
// with a file costs time, never more.
#include <executorch/backends/xnnpack/runtime/weights/packed_weights.h>
#include <executorch/backends/xnnpack/test/loaded_delegate.h>
#include <executorch/runtime/platform/runtime.h>

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace executorch::backends::xnnpack::testing {
namespace {

using runtime::BackendOptions;
using runtime::Error;
using Bytes = std::vector<char>;

class PackedFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime::runtime_init();
    ASSERT_EQ(register_xnnpack_backend(), Error::Ok);
    std::string folder = ::testing::TempDir() + "packedXXXXXX";
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    path_ = folder + "/weights";
  }
  void TearDown() override {
    ::unlink(path_.c_str());
    ASSERT_EQ(::rmdir(folder_.c_str()), 0) << "something else was left in " << folder_;
  }

  std::unique_ptr<Loaded> load() const { return load(path_); }
  static std::unique_ptr<Loaded> load(const std::string& path) {
    BackendOptions<1> options;
    EXPECT_EQ(options.set_option(packed_cache_path_option_key, path.c_str()), Error::Ok);
    return std::make_unique<Loaded>(
        pack(sample_graph(), Constants::kNamed),
        runtime::Span<const runtime::BackendOption>(options.view().data(), options.view().size()));
  }

  static Error save() {
    BackendOptions<1> options;
    EXPECT_EQ(options.set_option(save_weight_cache_on_disk_option_key, true), Error::Ok);
    return runtime::set_option(xnnpack_backend_key, options.view());
  }

  static std::vector<float> run(Loaded& delegate) {
    const auto tensors = arguments();
    EXPECT_EQ(delegate.run(tensors), Error::Ok);
    std::vector<float> found;
    for (size_t i = 1; i < tensors.size(); ++i) {
      const auto* const values = tensors[i]->const_data_ptr<float>();
      found.insert(found.end(), values, values + tensors[i]->numel());
    }
    return found;
  }

  Bytes contents() const {
    std::ifstream file(path_, std::ios::binary);
    return Bytes(std::istreambuf_iterator<char>(file), {});
  }
  void write(const Bytes& bytes) const {
    std::ofstream(path_, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  /// What the network computes when all of it is found in the file.
  void expect_found(const std::vector<float>& expected) const {
    const size_t packed = PackedWeights::times_packed();
    const size_t held = PackedWeights::total_bytes();
    const auto delegate = load();
    ASSERT_EQ(delegate->error(), Error::Ok);
    EXPECT_EQ(run(*delegate), expected);
    EXPECT_EQ(PackedWeights::times_packed(), packed);
    EXPECT_EQ(PackedWeights::total_bytes(), held);
  }

  std::string folder_;
  std::string path_;
};

TEST_F(PackedFileTest, WhatItHoldsIsNotPackedAgain) {
  std::vector<float> expected;
  {
    const auto first = load();
    ASSERT_EQ(first->error(), Error::Ok);
    expected = run(*first);
    ASSERT_EQ(save(), Error::Ok);
  }
  expect_found(expected);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { EXPECT_EQ(run(*load()), expected); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST_F(PackedFileTest, OneWithoutNewWeightsIsNotWrittenAgain) {
  const auto delegate = load();
  ASSERT_EQ(save(), Error::Ok);
  struct stat before{}, after{};
  ASSERT_EQ(::stat(path_.c_str(), &before), 0);
  ASSERT_EQ(save(), Error::Ok);
  ASSERT_EQ(::stat(path_.c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
}

TEST_F(PackedFileTest, NewWeightsJoinThoseOfTheFile) {
  {
    const auto delegate = load();
    ASSERT_EQ(save(), Error::Ok);
  }
  const size_t size = contents().size();
  {
    const auto file = PackedFile::open(path_);
    ASSERT_TRUE(file.ok());
    const std::vector<uint8_t> other(1000, 7);
    ASSERT_EQ((*file)->add({{{1, 2}, other.data(), other.size()}}), Error::Ok);
  }
  EXPECT_GT(contents().size(), size + 1000);
  const auto file = PackedFile::open(path_);
  const auto* const found = static_cast<const uint8_t*>((*file)->find({1, 2}));
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(std::vector<uint8_t>(found, found + 1000), std::vector<uint8_t>(1000, 7));
  EXPECT_EQ((*file)->find({2, 1}), nullptr);
  expect_found(run(*std::make_unique<Loaded>(pack(sample_graph(), Constants::kNamed))));
}

/// Truncated at every byte of the entries and now and then behind them; a bit of every byte
/// changed.
TEST_F(PackedFileTest, CorruptedFilesCountAsEmpty) {
  std::vector<float> expected;
  {
    const auto first = load();
    expected = run(*first);
    ASSERT_EQ(save(), Error::Ok);
  }
  const Bytes whole = contents();
  const auto check = [&](const Bytes& corrupted) {
    write(corrupted);
    const auto delegate = load();
    ASSERT_EQ(delegate->error(), Error::Ok);
    EXPECT_EQ(run(*delegate), expected);
  };
  for (size_t size = 0; size < whole.size(); size += size < 400 ? 1 : 37) {
    check(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    Bytes corrupted = whole;
    corrupted[at] = static_cast<char>(corrupted[at] ^ (1 << (at % 8)));
    check(corrupted);
  }
  write(whole);
  expect_found(expected);
}

TEST_F(PackedFileTest, CorruptionOfABlockIsSeenBeforeItIsUsedAndMended) {
  std::vector<float> expected;
  {
    const auto first = load();
    expected = run(*first);
    ASSERT_EQ(save(), Error::Ok);
  }
  Bytes corrupted = contents();
  for (size_t at = corrupted.size() / 2; at < corrupted.size(); ++at) {
    corrupted[at] = static_cast<char>(corrupted[at] ^ 1);
  }
  write(corrupted);
  {
    const size_t packed = PackedWeights::times_packed();
    const auto again = load();
    EXPECT_GT(PackedWeights::times_packed(), packed);
    ASSERT_EQ(save(), Error::Ok);
  }
  expect_found(expected);
}

TEST_F(PackedFileTest, AFileThatCannotBeWrittenIsAnError) {
  const auto delegate = load(folder_ + "/nowhere/weights");
  ASSERT_EQ(delegate->error(), Error::Ok);
  EXPECT_EQ(save(), Error::AccessFailed);
}

TEST_F(PackedFileTest, OptionsThatMakeNoSenseAreRefused) {
  BackendOptions<2> options;
  ASSERT_EQ(options.set_option(packed_cache_path_option_key, path_.c_str()), Error::Ok);
  ASSERT_EQ(options.set_option(weight_cache_option_key, false), Error::Ok);
  EXPECT_EQ(runtime::set_option(xnnpack_backend_key, options.view()), Error::InvalidArgument);
  BackendOptions<1> number;
  ASSERT_EQ(number.set_option(packed_cache_path_option_key, 1), Error::Ok);
  EXPECT_EQ(runtime::set_option(xnnpack_backend_key, number.view()), Error::InvalidArgument);
  BackendOptions<1> text;
  ASSERT_EQ(text.set_option(save_weight_cache_on_disk_option_key, "yes"), Error::Ok);
  EXPECT_EQ(runtime::set_option(xnnpack_backend_key, text.view()), Error::InvalidArgument);
}

TEST_F(PackedFileTest, ThePathMayBeADefault) {
  BackendOptions<1> options;
  ASSERT_EQ(options.set_option(packed_cache_path_option_key, path_.c_str()), Error::Ok);
  ASSERT_EQ(runtime::set_option(xnnpack_backend_key, options.view()), Error::Ok);
  BackendOptions<1> read;
  ASSERT_EQ(read.set_option(packed_cache_path_option_key, "?"), Error::Ok);
  ASSERT_EQ(runtime::get_option(xnnpack_backend_key, read.view()), Error::Ok);
  const char* found = nullptr;
  ASSERT_EQ(read.get_option(packed_cache_path_option_key, found), Error::Ok);
  EXPECT_EQ(found, path_);
  {
    const Loaded delegate(pack(sample_graph(), Constants::kNamed));
    ASSERT_EQ(save(), Error::Ok);
  }
  EXPECT_GT(contents().size(), 0u);
  ASSERT_EQ(options.set_option(packed_cache_path_option_key, ""), Error::Ok);
  ASSERT_EQ(runtime::set_option(xnnpack_backend_key, options.view()), Error::Ok);
}

}  // namespace
}  // namespace executorch::backends::xnnpack::testing
