// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints: what is saved comes back bit for bit, what is corrupted is refused and changes
// nothing, and a process that dies while it writes leaves a whole file.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/flat_tensor/flat_tensor_data_map.h>
#include <executorch/extension/flat_tensor/serialize/serialize.h>
#include <executorch/extension/tensor/tensor_ptr.h>
#include <executorch/extension/training/checkpoint/checkpoint.h>
#include <executorch/extension/training/module/state_dict_util.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // experimental

using namespace executorch::extension;
using namespace executorch::extension::training;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::Error;

namespace {

using Parameters = std::map<std::string_view, Tensor>;
using State = std::map<std::string, Tensor>;

std::vector<float> values(const Tensor& tensor) {
  return {tensor.const_data_ptr<float>(), tensor.const_data_ptr<float>() + tensor.numel()};
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

class CheckpointTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Error save() const { return save_checkpoint(path_, parameters_, state_); }
  Error load() const { return load_checkpoint(path_, parameters_, state_); }

  void forget() const {
    w_->mutable_data_ptr<float>()[0] = 0;
    steps_->mutable_data_ptr<int64_t>()[0] = 0;
  }
  bool is_forgotten() const {
    return values(*w_) == std::vector<float>{0, -2} && *steps_->const_data_ptr<int64_t>() == 0;
  }

  const std::string folder_ = testing::TempDir() + "/checkpoint_" + std::to_string(::getpid());
  const std::string path_ = folder_ + "/checkpoint.ptd";
  const TensorPtr w_ = make_tensor_ptr<float>({1, 2}, {1.f / 3, -2.f});
  const TensorPtr steps_ = make_tensor_ptr<int64_t>(41);
  const TensorPtr none_ = make_tensor_ptr<float>({0}, std::vector<float>{});
  const Parameters parameters_ = {{"w", *w_}, {"none", *none_}};
  const State state_ = {{"state.w.step", *steps_}};
};

}  // namespace

TEST_F(CheckpointTest, ComesBackBitForBit) {
  RecordProperty("req", "EXT-031 RT-008");
  ASSERT_EQ(save(), Error::Ok);
  forget();
  ASSERT_EQ(load(), Error::Ok);
  EXPECT_EQ(values(*w_), (std::vector<float>{1.f / 3, -2.f}));
  EXPECT_EQ(*steps_->const_data_ptr<int64_t>(), 41);
}

TEST_F(CheckpointTest, IsADataFileOfTensors) {
  ASSERT_EQ(save(), Error::Ok);
  auto loader = FileDataLoader::from(path_.c_str());
  ASSERT_TRUE(loader.ok());
  const auto map = FlatTensorDataMap::load(&*loader);
  ASSERT_TRUE(map.ok());
  const auto tensors = load_state_dict(*map);
  ASSERT_TRUE(tensors.ok());
  EXPECT_EQ(tensors->size(), 4u);
  EXPECT_EQ(values(*tensors->at("w")), values(*w_));
  EXPECT_EQ(tensors->at("w")->shape_dynamism(), executorch::aten::TensorShapeDynamism::STATIC);
  EXPECT_EQ(tensors->count(kChecksumName), 1u);
}

// The sum is zlib's of name, type, sizes, order of dimensions and bytes: computed here by bits.
TEST_F(CheckpointTest, TheChecksumIsTheCommonOne) {
  const TensorPtr byte = make_tensor_ptr<uint8_t>({2}, {7, 9});
  ASSERT_EQ(save_checkpoint(path_, {{"a", *byte}}), Error::Ok);
  const uint8_t text[] = {1, 0, 0, 0, 'a', 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 7, 9};
  uint32_t crc = 0xffffffff;
  for (const uint8_t one : text) {
    crc ^= one;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320 : 0);
    }
  }
  const TensorPtr sum = make_tensor_ptr<int64_t>({1}, {0});
  auto loader = FileDataLoader::from(path_.c_str());
  const auto map = FlatTensorDataMap::load(&*loader);
  ASSERT_EQ(map->load_data_into(kChecksumName, sum->mutable_data_ptr(), 8), Error::Ok);
  EXPECT_EQ(*sum->const_data_ptr<int64_t>(), static_cast<int64_t>(crc ^ 0xffffffff));
}

// Of a bit that means nothing (padding) the values are those that were saved.
TEST_F(CheckpointTest, AFlippedBitInAnyByteIsRefusedOrWithoutMeaning) {
  ASSERT_EQ(save(), Error::Ok);
  const std::string whole = read_file(path_);
  size_t refused = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string corrupted = whole;
    corrupted[i] = static_cast<char>(corrupted[i] ^ (1 << (i % 8)));
    write_file(path_, corrupted);
    forget();
    const Error error = load();
    if (error == Error::Ok) {
      ASSERT_EQ(values(*w_), (std::vector<float>{1.f / 3, -2.f})) << "byte " << i;
      ASSERT_EQ(*steps_->const_data_ptr<int64_t>(), 41) << "byte " << i;
    } else {
      ++refused;
      ASSERT_TRUE(is_forgotten()) << "byte " << i;
    }
  }
  EXPECT_GE(refused, 2 * sizeof(float) + 2 * sizeof(int64_t));
}

TEST_F(CheckpointTest, EveryTruncationIsRefused) {
  ASSERT_EQ(save(), Error::Ok);
  const std::string whole = read_file(path_);
  for (size_t size = 0; size < whole.size(); ++size) {
    write_file(path_, whole.substr(0, size));
    forget();
    ASSERT_NE(load(), Error::Ok) << size << " of " << whole.size() << " bytes";
    ASSERT_TRUE(is_forgotten());
  }
}

TEST_F(CheckpointTest, WhatDoesNotFitChangesNothing) {
  ASSERT_EQ(save(), Error::Ok);
  const TensorPtr wide = make_tensor_ptr<float>({2, 1}, {5.f, 5.f});
  const TensorPtr whole = make_tensor_ptr<int32_t>({1, 2}, {5, 5});
  const TensorPtr nowhere = make_tensor_ptr({1, 2}, nullptr, ScalarType::Float);
  forget();
  for (const TensorPtr& other : {wide, whole, nowhere}) {
    EXPECT_EQ(load_checkpoint(path_, {{"w", *other}}, state_), Error::InvalidArgument);
  }
  EXPECT_EQ(load_checkpoint(path_, {{"w", *w_}, {"x", *wide}}, state_), Error::NotFound);
  EXPECT_EQ(load_checkpoint(path_ + ".no", parameters_), Error::AccessFailed);
  EXPECT_TRUE(is_forgotten());
}

TEST_F(CheckpointTest, PartOfItCanBeLoaded) {
  ASSERT_EQ(save(), Error::Ok);
  forget();
  EXPECT_EQ(load_checkpoint(path_, {{"w", *w_}}), Error::Ok);
  EXPECT_EQ(values(*w_), (std::vector<float>{1.f / 3, -2.f}));
  EXPECT_EQ(*steps_->const_data_ptr<int64_t>(), 0);
}

TEST_F(CheckpointTest, ADataFileWithoutSumIsNoCheckpoint) {
  ASSERT_EQ(flat_tensor::save_ptd(path_, {{"w", *w_}}, 16), Error::Ok);
  EXPECT_EQ(load_checkpoint(path_, {{"w", *w_}}), Error::InvalidExternalData);
}

TEST_F(CheckpointTest, NamesThatAreTakenAreRefused) {
  EXPECT_EQ(save_checkpoint(path_, parameters_, {{"w", *w_}}), Error::InvalidArgument);
  EXPECT_EQ(save_checkpoint(path_, {{kChecksumName, *w_}}), Error::InvalidArgument);
  EXPECT_TRUE(read_file(path_).empty());
}

TEST_F(CheckpointTest, ADiskThatIsFullLeavesTheOldFile) {
  ASSERT_EQ(save(), Error::Ok);
  const std::string before = read_file(path_);
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const TensorPtr large = make_tensor_ptr<float>({4096}, std::vector<float>(4096));
    ::_exit(save_checkpoint(path_, {{"w", *large}}) == Error::AccessFailed ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_file(path_), before);
}

TEST_F(CheckpointTest, AFileThatCannotBeWrittenIsNamed) {
  const std::string nowhere = path_ + ".no/checkpoint.ptd";
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(save_checkpoint(nowhere, parameters_), Error::AccessFailed);
  const std::string message = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(message.find("Cannot write " + nowhere + ": check that its folder exists"),
            std::string::npos)
      << message;
}

// Each writes its own bytes, and the file is one of theirs.
TEST_F(CheckpointTest, ThreadsMayWriteTheSamePath) {
  constexpr size_t kCount = 1 << 14;
  std::vector<std::thread> writers;
  std::atomic<int> failures = 0;
  for (int number = 1; number <= 4; ++number) {
    writers.emplace_back([&, number] {
      const TensorPtr mine =
          make_tensor_ptr<float>({kCount}, std::vector<float>(kCount, static_cast<float>(number)));
      for (int round = 0; round < 20; ++round) {
        failures += save_checkpoint(path_, {{"w", *mine}}) != Error::Ok;
      }
    });
  }
  for (std::thread& writer : writers) {
    writer.join();
  }
  EXPECT_EQ(failures, 0);
  const TensorPtr found = make_tensor_ptr<float>({kCount}, std::vector<float>(kCount));
  ASSERT_EQ(load_checkpoint(path_, {{"w", *found}}), Error::Ok);
  EXPECT_EQ(values(*found), std::vector<float>(kCount, values(*found)[0]));
  using Entries = std::filesystem::directory_iterator;
  EXPECT_EQ(std::distance(Entries(folder_), Entries()), 1) << "something unfinished is left";
}

// Every file that a killed writer leaves has one number in all places.
TEST_F(CheckpointTest, AProcessThatIsKilledLeavesAWholeFile) {
  constexpr size_t kCount = 1 << 16;
  const TensorPtr large = make_tensor_ptr<float>({kCount}, std::vector<float>(kCount));
  ASSERT_EQ(save_checkpoint(path_, {{"w", *large}}), Error::Ok);
  float last = 0;
  for (int round = 0; round < 10; ++round) {
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      for (float number = last + 1;; ++number) {
        std::fill_n(large->mutable_data_ptr<float>(), kCount, number);
        const bool saved = save_checkpoint(path_, {{"w", *large}}) == Error::Ok;
        if (!saved || (number == last + 1 && ::write(pipe[1], "", 1) != 1)) {
          ::_exit(1);
        }
      }
    }
    ::close(pipe[1]);
    char byte = 0;
    ASSERT_EQ(::read(pipe[0], &byte, 1), 1) << "the child ended without a file";
    ::close(pipe[0]);
    ::usleep(3000 * (round + 1));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    ASSERT_EQ(load_checkpoint(path_, {{"w", *large}}), Error::Ok);
    const std::vector<float> found = values(*large);
    ASSERT_EQ(found, std::vector<float>(kCount, found[0]));
    ASSERT_GT(found[0], last);
    last = found[0];
  }
}
