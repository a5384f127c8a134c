// SPDX-License-Identifier: BSD-3-Clause
// The header of .pte files, byte by byte.
#include <executorch/schema/extended_header.h>

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <executorch/runtime/platform/runtime.h>

namespace executorch::runtime {
namespace {

// Root offset, "ET12", "eh00", length 32, program 0x2f0 bytes, segments from 0x1000, 0x20 bytes of
// them.
const std::vector<uint8_t> kHead = {
    0x38, 0x00, 0x00, 0x00, 'E',  'T',  '1',  '2',  'e',  'h',  '0',  '0',  0x20, 0x00, 0x00, 0x00,
    0xF0, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};

class ExtendedHeaderTest : public ::testing::Test {
 protected:
  void SetUp() override { runtime_init(); }

  std::vector<uint8_t> head_ = kHead;
};

TEST_F(ExtendedHeaderTest, ReadsAllFields) {
  RecordProperty("req", "RT-002");
  const Result<ExtendedHeader> header = ExtendedHeader::Parse(head_.data(), head_.size());
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(header->program_size, 0x2F0u);
  EXPECT_EQ(header->segment_base_offset, 0x1000u);
  EXPECT_EQ(header->segment_data_size, 0x20u);
}

TEST_F(ExtendedHeaderTest, ReadsAllEightBytesOfAField) {
  for (int i = 0; i < 8; ++i) {
    head_[static_cast<size_t>(16 + i)] = static_cast<uint8_t>(i + 1);
  }
  EXPECT_EQ(ExtendedHeader::Parse(head_.data(), head_.size())->program_size, 0x0807060504030201u);
}

TEST_F(ExtendedHeaderTest, HeadersOfTheFirstVersionHaveNoSegmentSize) {
  head_[12] = 24;
  EXPECT_EQ(ExtendedHeader::Parse(head_.data(), head_.size())->segment_data_size, 0u);
}

TEST_F(ExtendedHeaderTest, LongerHeadersAreRead) {
  head_[12] = 48;
  EXPECT_EQ(ExtendedHeader::Parse(head_.data(), head_.size())->segment_data_size, 0x20u);
}

TEST_F(ExtendedHeaderTest, RefusesWhatIsTooShort) {
  EXPECT_EQ(ExtendedHeader::Parse(head_.data(), 63).error(), Error::InvalidArgument);
  EXPECT_EQ(ExtendedHeader::Parse(head_.data(), 0).error(), Error::InvalidArgument);
  EXPECT_EQ(ExtendedHeader::Parse(nullptr, 64).error(), Error::InvalidArgument);
  head_[12] = 23;
  EXPECT_EQ(ExtendedHeader::Parse(head_.data(), head_.size()).error(), Error::InvalidProgram);
}

TEST_F(ExtendedHeaderTest, OtherBytesAreNoHeader) {
  for (size_t i = 8; i < 12; ++i) {
    std::vector<uint8_t> other = kHead;
    other[i] ^= 1;
    EXPECT_EQ(ExtendedHeader::Parse(other.data(), other.size()).error(), Error::NotFound);
  }
}

}  // namespace
}  // namespace executorch::runtime
