// SPDX-License-Identifier: BSD-3-Clause
// Data files: what is written is read back; what is corrupted is refused, at every byte.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <new>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/flat_tensor/flat_tensor_data_map.h>
#include <executorch/extension/flat_tensor/serialize/flat_tensor_generated.h>
#include <executorch/extension/flat_tensor/serialize/flat_tensor_header.h>
#include <executorch/extension/flat_tensor/serialize/serialize.h>
#include <executorch/extension/named_data_map/merged_data_map.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/platform/runtime.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // save_ptd is marked experimental

using namespace executorch::extension;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::extension::flat_tensor::save_ptd;
using executorch::runtime::Error;
using executorch::runtime::NamedDataMap;
using executorch::runtime::Result;
using executorch::runtime::Span;

namespace {

// A file in memory as loaders give it: aligned, and of exactly this size.
class File {
 public:
  explicit File(const std::string& bytes)
      : data_(new(std::align_val_t(64)) char[bytes.size() + 1]),
        size_(bytes.size()),
        loader_(data_, size_) {
    std::memcpy(data_, bytes.data(), size_);
  }
  ~File() { ::operator delete[](data_, std::align_val_t(64)); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  Result<FlatTensorDataMap> load() { return FlatTensorDataMap::load(&loader_); }

 private:
  char* data_;
  size_t size_;
  BufferDataLoader loader_;
};

std::string write(const std::map<std::string, Tensor>& tensors, size_t alignment) {
  std::stringstream out;
  EXPECT_EQ(save_ptd(out, tensors, alignment), Error::Ok);
  return out.str();
}

class FlatTensor : public testing::Test {
 protected:
  void SetUp() override { executorch::runtime::runtime_init(); }

  std::map<std::string, Tensor> tensors() { return {{"weight", *weight_}, {"bias", *bias_}}; }

  // A file from a table of contents that need not make sense; the data are 64 bytes.
  static std::string build(flat_tensor_flatbuffer::FlatTensorT& contents) {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(flat_tensor_flatbuffer::FlatTensor::Pack(builder, &contents),
                   flat_tensor_flatbuffer::FlatTensorIdentifier());
    std::string body(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize());
    std::string header("FH01");
    const auto append = [&](uint64_t number, size_t size) {
      header.append(reinterpret_cast<const char*>(&number), size);
    };
    append(40, 4);
    append(48, 8);
    append(body.size(), 8);
    append(48 + body.size(), 8);
    append(64, 8);
    header.resize(48);
    uint32_t root;
    std::memcpy(&root, body.data(), 4);
    root += 48;
    std::memcpy(body.data(), &root, 4);
    return body.substr(0, 8) + header + body.substr(8) + std::string(64, 'd');
  }

  static flat_tensor_flatbuffer::FlatTensorT contents() {
    flat_tensor_flatbuffer::FlatTensorT table;
    table.segments.push_back(std::make_unique<flat_tensor_flatbuffer::DataSegmentT>());
    table.segments[0]->offset = 16;
    table.segments[0]->size = 24;
    table.named_data.push_back(std::make_unique<flat_tensor_flatbuffer::NamedDataT>());
    table.named_data[0]->key = "x";
    auto layout = std::make_unique<flat_tensor_flatbuffer::TensorLayoutT>();
    layout->scalar_type = executorch_flatbuffer::ScalarType::FLOAT;
    layout->sizes = {2, 3};
    layout->dim_order = {0, 1};
    table.named_data[0]->tensor_layout = std::move(layout);
    return table;
  }

  TensorPtr weight_ = make_tensor_ptr({2, 3}, {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f});
  TensorPtr bias_ = make_tensor_ptr({3}, {int64_t(7), int64_t(8), int64_t(9)});
};

TEST_F(FlatTensor, WhatIsWrittenIsReadBack) {
  RecordProperty("req", "EXT-021");
  for (size_t alignment : {1, 8, 16, 128, 4096}) {
    File file(write(tensors(), alignment));
    auto map = file.load();
    ASSERT_TRUE(map.ok()) << alignment;
    EXPECT_EQ(map->get_num_keys().get(), 2u);
    EXPECT_STREQ(map->get_key(0).get(), "bias");
    EXPECT_STREQ(map->get_key(1).get(), "weight");
    const auto layout = map->get_tensor_layout("weight");
    ASSERT_TRUE(layout.ok());
    EXPECT_EQ(layout->scalar_type(), ScalarType::Float);
    EXPECT_EQ(layout->sizes()[1], 3);
    const auto data = map->get_data("weight");
    ASSERT_EQ(data->size(), 24u);
    EXPECT_EQ(std::memcmp(data->data(), weight_->const_data_ptr(), 24), 0);
    int64_t numbers[3] = {0, 0, 0};
    EXPECT_EQ(map->load_data_into("bias", numbers, 16), Error::Ok);
    EXPECT_EQ(numbers[1], 8);
    EXPECT_EQ(numbers[2], 0);
    EXPECT_EQ(map->load_data_into("bias", numbers, 25), Error::InvalidArgument);
    EXPECT_EQ(map->get_data("none").error(), Error::NotFound);
    EXPECT_EQ(map->get_tensor_layout("none").error(), Error::NotFound);
    EXPECT_EQ(map->get_key(2).error(), Error::InvalidArgument);
  }
}

TEST_F(FlatTensor, HeaderFields) {
  const std::string bytes = write(tensors(), 16);
  const auto header = FlatTensorHeader::Parse(bytes.data(), bytes.size());
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(header->flatbuffer_offset, 48u);
  EXPECT_EQ(header->segment_base_offset % 16, 0u);
  EXPECT_EQ(header->segment_data_size, 32u + 24u);
  EXPECT_EQ(bytes.size(), header->segment_base_offset + header->segment_data_size);
  EXPECT_EQ(FlatTensorHeader::Parse(bytes.data(), 63).error(), Error::InvalidArgument);
  EXPECT_EQ(FlatTensorHeader::Parse(std::string(64, 'x').data(), 64).error(), Error::NotFound);
  std::string short_header = bytes;
  short_header[12] = 39;
  EXPECT_EQ(FlatTensorHeader::Parse(short_header.data(), 64).error(), Error::InvalidExternalData);
}

// Segments in the order of names, each at a multiple of the alignment, zeros between; the last one
// ends the file.
TEST_F(FlatTensor, WhereTensorsLie) {
  const std::string bytes = write({{"a", *bias_}, {"b", *weight_}}, 64);
  const auto header = FlatTensorHeader::Parse(bytes.data(), bytes.size());
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(header->flatbuffer_offset % 64, 0u);
  EXPECT_EQ(header->segment_data_size, 64u + 24u);
  const char* data = bytes.data() + header->segment_base_offset;
  EXPECT_EQ(std::memcmp(data, bias_->const_data_ptr(), 24), 0);
  EXPECT_EQ(std::string(data + 24, 40), std::string(40, '\0'));
  EXPECT_EQ(std::memcmp(data + 64, weight_->const_data_ptr(), 24), 0);
  const auto* table = flat_tensor_flatbuffer::GetFlatTensor(bytes.data());
  EXPECT_EQ(table->version(), flat_tensor::kSchemaVersion);
}

TEST_F(FlatTensor, FilesThatCannotBeWritten) {
  EXPECT_EQ(save_ptd("/nowhere/x.ptd", tensors(), 16), Error::AccessFailed);
  const std::string path = testing::TempDir() + "/flat_tensor_test.ptd";
  std::remove(path.c_str());  // of an earlier run
  EXPECT_EQ(save_ptd(path, tensors(), 24), Error::InvalidArgument);
  EXPECT_FALSE(std::ifstream(path).good());
  ASSERT_EQ(save_ptd(path, tensors(), 16), Error::Ok);
  auto loader = FileDataLoader::from(path.c_str());
  EXPECT_TRUE(FlatTensorDataMap::load(&loader.get()).ok());
  std::stringstream out;
  auto without_data = make_tensor_ptr({2}, static_cast<void*>(nullptr));
  EXPECT_EQ(save_ptd(out, {{"x", *without_data}}, 16), Error::InvalidArgument);
  std::ofstream full("/dev/full", std::ios::binary);
  EXPECT_EQ(save_ptd(full, tensors(), 16), Error::AccessFailed);
}

TEST_F(FlatTensor, TruncatedAtEveryByte) {
  const std::string bytes = write(tensors(), 16);
  for (size_t size = 0; size < bytes.size(); ++size) {
    File file(bytes.substr(0, size));
    EXPECT_EQ(file.load().error(), Error::InvalidExternalData) << size;
  }
}

// What loads must be readable to the end, whatever was changed.
TEST_F(FlatTensor, EveryByteChanged) {
  const std::string bytes = write(tensors(), 16);
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::string corrupted = bytes;
    for (int change = 0; change <= round % 3; ++change) {
      const uint32_t values[] = {0,          1,          0x7fffffff,
                                 0x80000000, 0xffffffff, static_cast<uint32_t>(random())};
      const size_t place = random() % (bytes.size() - 3);
      std::memcpy(&corrupted[place], &values[random() % 6], 1 + random() % 4);
    }
    File file(corrupted);
    auto map = file.load();
    if (!map.ok()) {
      continue;
    }
    for (uint32_t i = 0; i < map->get_num_keys().get(); ++i) {
      const char* key = map->get_key(i).get();
      (void)map->get_tensor_layout(key).ok();
      const auto data = map->get_data(key);
      ASSERT_TRUE(data.ok());
      // Under AddressSanitizer this finds any byte that is not the file's.
      std::vector<char> copy(data->size() + 1);
      std::memcpy(copy.data(), data->data(), data->size());
      EXPECT_EQ(map->load_data_into(key, copy.data(), 0), Error::Ok);
    }
  }
}

struct Corruption {
  const char* name;
  void (*corrupt)(flat_tensor_flatbuffer::FlatTensorT&);
};

const Corruption kCorruptions[] = {
    {"SegmentEndsBehindData", [](auto& t) { t.segments[0]->size = 49; }},
    {"SegmentOffsetWraps", [](auto& t) { t.segments[0]->offset = UINT64_MAX - 7; }},
    {"SegmentSizeWraps", [](auto& t) { t.segments[0]->size = UINT64_MAX; }},
    {"NoSuchSegment", [](auto& t) { t.named_data[0]->segment_index = 1; }},
    {"NegativeSize", [](auto& t) { t.named_data[0]->tensor_layout->sizes = {-1, 3}; }},
    {"LargerThanItsData", [](auto& t) { t.named_data[0]->tensor_layout->sizes = {2, 4}; }},
    {"ProductWraps",
     [](auto& t) {
       t.named_data[0]->tensor_layout->sizes = {INT32_MAX, INT32_MAX, INT32_MAX};
       t.named_data[0]->tensor_layout->dim_order = {0, 1, 2};
     }},
    {"DimOrderTooShort", [](auto& t) { t.named_data[0]->tensor_layout->dim_order = {0}; }},
    {"DimOrderRepeats", [](auto& t) { t.named_data[0]->tensor_layout->dim_order = {0, 0}; }},
    {"DimOrderOutside", [](auto& t) { t.named_data[0]->tensor_layout->dim_order = {0, 9}; }},
    {"NoSuchType",
     [](auto& t) {
       t.named_data[0]->tensor_layout->scalar_type =
           static_cast<executorch_flatbuffer::ScalarType>(77);
     }},
    {"RepeatedName",
     [](auto& t) {
       t.named_data.push_back(
           std::make_unique<flat_tensor_flatbuffer::NamedDataT>(*t.named_data[0]));
     }},
};

// Fails at its only call, or gives memory that is not aligned.
class OddLoader final : public executorch::runtime::DataLoader {
 public:
  explicit OddLoader(const char* data, size_t size) : data_(data), size_(size) {}
  Result<executorch::runtime::FreeableBuffer> load(size_t offset, size_t size,
                                                   const SegmentInfo&) const override {
    if (data_ == nullptr) {
      return Error::AccessFailed;
    }
    return executorch::runtime::FreeableBuffer(data_ + offset, size, nullptr);
  }
  Result<size_t> size() const override { return size_; }

 private:
  const char* data_;
  size_t size_;
};

TEST_F(FlatTensor, LoadersThatFailOrAreNotAligned) {
  EXPECT_EQ(FlatTensorDataMap::load(nullptr).error(), Error::InvalidArgument);
  OddLoader failing(nullptr, 1000);
  EXPECT_EQ(FlatTensorDataMap::load(&failing).error(), Error::AccessFailed);
  const std::string bytes = write(tensors(), 16);
  alignas(16) char memory[4096] = {};
  ASSERT_LT(bytes.size(), sizeof(memory));
  std::memcpy(memory + 1, bytes.data(), bytes.size());
  OddLoader unaligned(memory + 1, bytes.size());
  EXPECT_EQ(FlatTensorDataMap::load(&unaligned).error(), Error::InvalidArgument);
}

class CorruptedContents : public FlatTensor, public testing::WithParamInterface<Corruption> {};

TEST_P(CorruptedContents, IsRefused) {
  auto table = contents();
  EXPECT_TRUE(File(build(table)).load().ok());
  GetParam().corrupt(table);
  EXPECT_EQ(File(build(table)).load().error(), Error::InvalidExternalData);
}

INSTANTIATE_TEST_SUITE_P(FlatTensor, CorruptedContents, testing::ValuesIn(kCorruptions),
                         [](const testing::TestParamInfo<Corruption>& info) {
                           return info.param.name;
                         });

TEST_F(FlatTensor, ABlobHasNoLayout) {
  auto table = contents();
  table.named_data[0]->tensor_layout.reset();
  File file(build(table));
  auto map = file.load();
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(map->get_tensor_layout("x").error(), Error::NotFound);
  EXPECT_EQ(map->get_data("x")->size(), 24u);
  char bytes[24];
  EXPECT_EQ(map->load_data_into("x", bytes, 24), Error::Ok);
  EXPECT_EQ(map->load_data_into("x", bytes, 25), Error::InvalidArgument);
}

TEST_F(FlatTensor, MergedMaps) {
  RecordProperty("req", "EXT-022");
  File first_file(write({{"weight", *weight_}}, 16));
  File second_file(write({{"bias", *bias_}}, 16));
  File none_file(write({}, 16));
  auto first = first_file.load();
  auto second = second_file.load();
  auto none = none_file.load();
  const NamedDataMap* maps[] = {&first.get(), &none.get(), &second.get()};
  auto merged = MergedDataMap::load(Span<const NamedDataMap*>(maps, 3));
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ(merged->get_num_keys().get(), 2u);
  EXPECT_STREQ(merged->get_key(0).get(), "weight");
  EXPECT_STREQ(merged->get_key(1).get(), "bias");
  EXPECT_EQ(merged->get_data("bias")->size(), 24u);
  EXPECT_EQ(merged->get_tensor_layout("bias")->scalar_type(), ScalarType::Long);
  EXPECT_EQ(merged->get_data("none").error(), Error::NotFound);
  EXPECT_EQ(merged->get_key(2).error(), Error::InvalidArgument);
  const NamedDataMap* twice[] = {&first.get(), &first.get()};
  EXPECT_EQ(MergedDataMap::load(Span<const NamedDataMap*>(twice, 2)).error(),
            Error::InvalidArgument);
  const NamedDataMap* empty[] = {&none.get(), nullptr};
  EXPECT_EQ(MergedDataMap::load(Span<const NamedDataMap*>(empty, 2)).error(),
            Error::InvalidArgument);
}

}  // namespace
