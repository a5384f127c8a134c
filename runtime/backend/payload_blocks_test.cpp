// SPDX-License-Identifier: BSD-3-Clause
// Frames of payloads: each kind is read, and whatever is cut, misplaced or too large is an error.
#include <executorch/runtime/backend/payload_formats.h>
#include <executorch/runtime/platform/runtime.h>

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

using namespace executorch::runtime;

namespace {

using Bytes = std::vector<uint8_t>;

Bytes from_hex(const std::string& text) {
  Bytes bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

void put(Bytes& bytes, size_t at, size_t num_bytes, uint64_t number) {
  for (size_t i = 0; i < num_bytes; ++i) {
    bytes[at + i] = static_cast<uint8_t>(number >> 8 * i);
  }
}

/// What Python writes for the regions "abcdefgh..." of 10 bytes and "01234": see blocks_test.py.
Bytes two_regions(const char* magic) {
  return from_hex(std::string("00000000") + magic +
                  "1e00"
                  "20000000"
                  "0a000000"
                  "30000000"
                  "0500000000000000"
                  "0000"
                  "6162636465666768696a"
                  "000000000000"
                  "3031323334");
}

class PayloadBlocksTest : public ::testing::Test {
 protected:
  void SetUp() override { runtime_init(); }

  static Error error_of(const Bytes& bytes, const HeaderFormat& format) {
    // Of its own size, so that a sanitizer sees what is read behind it.
    const std::unique_ptr<uint8_t[]> exact(new uint8_t[bytes.size()]);
    std::copy(bytes.begin(), bytes.end(), exact.get());
    return read_regions({exact.get(), bytes.size()}, format).error();
  }
  static Error error_of(const Bytes& bytes, const BlocksFormat& format) {
    const std::unique_ptr<uint8_t[]> exact(new uint8_t[bytes.size()]);
    std::copy(bytes.begin(), bytes.end(), exact.get());
    return read_blocks({exact.get(), bytes.size()}, format).error();
  }
  static std::string text(Span<const uint8_t> bytes) { return {bytes.begin(), bytes.end()}; }
};

TEST_F(PayloadBlocksTest, ReadsRegions) {
  const struct {
    const HeaderFormat& format;
    const char* magic;
  } rows[] = {{kXnnpackHeader, "58483030"}, {kVulkanHeader, "56483030"}};
  for (const auto& row : rows) {
    const Bytes bytes = two_regions(row.magic);
    const auto read = read_regions({bytes.data(), bytes.size()}, row.format);
    ASSERT_TRUE(read.ok()) << row.format.name;
    EXPECT_EQ(text(read->regions[0]), "abcdefghij");
    EXPECT_EQ(text(read->regions[1]), "01234");
  }
}

TEST_F(PayloadBlocksTest, ASizeOfZeroReachesToTheEndWhereTheFormatSaysSo) {
  Bytes bytes = two_regions("56483030");
  put(bytes, 22, 8, 0);
  EXPECT_EQ(text(read_regions({bytes.data(), bytes.size()}, kVulkanHeader)->regions[1]), "01234");
  bytes = two_regions("58483030");
  put(bytes, 22, 8, 0);
  EXPECT_TRUE(read_regions({bytes.data(), bytes.size()}, kXnnpackHeader)->regions[1].empty());
}

TEST_F(PayloadBlocksTest, ReadsARegionWithoutAnOffset) {
  Bytes bytes = from_hex(
      "cdab7856"
      "0100000000000000"
      "0300000000000000");
  bytes.resize(256);
  bytes.insert(bytes.end(), {'q', 'n', 'n'});
  const auto read = read_regions({bytes.data(), bytes.size()}, kQualcommHeader);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(text(read->regions[0]), "qnn");
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(
        error_of({bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size)}, kQualcommHeader),
        Error::InvalidArgument)
        << size;
  }
  put(bytes, 12, 8, 0);
  EXPECT_EQ(error_of(bytes, kQualcommHeader), Error::InvalidArgument);
}

TEST_F(PayloadBlocksTest, ReadsARegionThatReachesToTheNext) {
  const Bytes bytes = from_hex(
      "000000004d503030"
      "3000000000000000"
      "1000000000000000"
      "6162636465666768696a0000000000000000000000000000"
      "30313233343536373839616263646566");
  const auto read = read_regions({bytes.data(), bytes.size()}, kMpsHeader);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(text(read->regions[0]).substr(0, 11), std::string("abcdefghij\0", 11));
  EXPECT_EQ(read->regions[0].size(), 24U);
  EXPECT_EQ(text(read->regions[1]), "0123456789abcdef");
  for (const uint64_t offset : {0ULL, 16ULL, 24ULL, 32ULL, 40ULL, 80ULL, ~0ULL}) {
    Bytes changed = bytes;
    put(changed, 8, 8, offset);
    EXPECT_EQ(error_of(changed, kMpsHeader), Error::InvalidArgument) << offset;
  }
}

TEST_F(PayloadBlocksTest, HeadersMustBeWholeAndHaveTheirMagic) {
  const Bytes bytes = two_regions("58483030");
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(
        error_of({bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size)}, kXnnpackHeader),
        Error::InvalidArgument)
        << size;
  }
  EXPECT_EQ(error_of(bytes, kVulkanHeader), Error::NotFound);
  EXPECT_FALSE(has_magic({bytes.data(), 7}, kXnnpackHeader));
  EXPECT_TRUE(has_magic({bytes.data(), 8}, kXnnpackHeader));
}

TEST_F(PayloadBlocksTest, RegionsMustBeInsideAndApart) {
  const struct {
    size_t at;
    size_t num_bytes;
    uint64_t number;
  } rows[] = {
      {8, 2, 29},                   // a shorter header
      {8, 2, 33},                   // one that reaches into the first region
      {10, 4, 28},                  // the first region in the header
      {10, 4, 33},                  // not aligned
      {10, 4, 0xFFFFFFFC},          // outside
      {14, 4, 7},                   // too small
      {14, 4, 17},                  // reaches into the second region
      {14, 4, 22},                  // outside
      {14, 4, 0xFFFFFFFF},          // outside, and with its offset over 32 bits
      {18, 4, 41},                  // in the first region
      {18, 4, 54},                  // outside
      {22, 8, 6},                   // outside
      {22, 8, 0xFFFFFFFFFFFFFFFF},  // and with its offset over 64 bits
      {22, 8, 0xFFFFFFFFFFFFFFD5},
  };
  for (const auto& row : rows) {
    Bytes bytes = two_regions("58483030");
    put(bytes, row.at, row.num_bytes, row.number);
    EXPECT_EQ(error_of(bytes, kXnnpackHeader), Error::InvalidArgument)
        << row.at << " " << row.number;
  }
  EXPECT_EQ(error_of(two_regions("58483030"), kXnnpackHeader), Error::Ok);
}

/// A block of 16 + 4 + 12 bytes and its data.
void add_block(Bytes& bytes, const std::string& name, const Bytes& data = {}) {
  const size_t at = bytes.size();
  bytes.resize(at + 32 + (data.size() + 15) / 16 * 16);
  std::copy(name.begin(), name.end(), bytes.begin() + static_cast<ptrdiff_t>(at));
  put(bytes, at + 16, 4, data.size());
  std::copy(data.begin(), data.end(), bytes.begin() + static_cast<ptrdiff_t>(at) + 32);
}

Bytes vela(const std::vector<std::pair<std::string, Bytes>>& between) {
  Bytes bytes;
  add_block(bytes, "vela_bin_stream");
  for (const auto& [name, data] : between) {
    add_block(bytes, name, data);
  }
  add_block(bytes, "vela_end_stream");
  return bytes;
}

const std::vector<std::pair<std::string, Bytes>> kAll = {
    {"cmd_data", Bytes{'C', 'O', 'P', '1', 1}},
    {"weight_data", Bytes(16, 7)},
    {"scratch_size", Bytes{32, 0, 0, 0}},
    {"inputs", Bytes(40, 1)},
    {"outputs", {}},
};

TEST_F(PayloadBlocksTest, ReadsNamedBlocks) {
  const Bytes bytes = vela(kAll);
  ASSERT_EQ(bytes.size(), 7 * 32u + 16 + 16 + 16 + 48);
  const auto read = read_blocks({bytes.data(), bytes.size()}, kEthosUBlocks);
  ASSERT_TRUE(read.ok());
  for (size_t i = 0; i < kAll.size(); ++i) {
    EXPECT_EQ(Bytes(read->data[i].begin(), read->data[i].end()), kAll[i].second);
  }
  auto other = kAll;
  std::swap(other[0], other[4]);
  const Bytes swapped = vela(other);
  EXPECT_EQ(read_blocks({swapped.data(), swapped.size()}, kEthosUBlocks)->data[0].size(), 5u);
}

TEST_F(PayloadBlocksTest, BlocksMustBeWhole) {
  const Bytes bytes = vela(kAll);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(
        error_of({bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size)}, kEthosUBlocks),
        Error::InvalidProgram)
        << size;
  }
  for (const uint64_t size : {uint64_t{0x7FFFFFFF}, uint64_t{0xFFFFFFFF}, uint64_t{0x80000000},
                              uint64_t{0xFFFFFFF0}, uint64_t{17 + 400}}) {
    Bytes changed = bytes;
    put(changed, 32 + 16, 4, size);
    EXPECT_EQ(error_of(changed, kEthosUBlocks), Error::InvalidProgram) << size;
  }
  Bytes longer = bytes;
  longer.resize(longer.size() + 16);
  EXPECT_EQ(error_of(longer, kEthosUBlocks), Error::InvalidProgram);
}

TEST_F(PayloadBlocksTest, NamesMustBeThoseOfTheFormatEachOnce) {
  for (size_t i = 0; i < kAll.size(); ++i) {
    auto missing = kAll;
    missing.erase(missing.begin() + static_cast<ptrdiff_t>(i));
    EXPECT_EQ(error_of(vela(missing), kEthosUBlocks), Error::InvalidProgram);
    auto twice = kAll;
    twice.push_back(kAll[i]);
    EXPECT_EQ(error_of(vela(twice), kEthosUBlocks), Error::InvalidProgram);
    auto unknown = kAll;
    unknown[i].first += "x";
    EXPECT_EQ(error_of(vela(unknown), kEthosUBlocks), Error::InvalidProgram);
  }
  Bytes bytes = vela(kAll);
  bytes[0] = 'V';
  EXPECT_EQ(error_of(bytes, kEthosUBlocks), Error::InvalidProgram);
}

/// Whatever bytes say, the answer is an error or regions inside; the sanitizers watch.
TEST_F(PayloadBlocksTest, ChangedBytesAreRefusedOrRead) {
  std::mt19937 random(7);
  const Bytes header = two_regions("58483030"), blocks = vela(kAll);
  for (int round = 0; round < 20000; ++round) {
    Bytes changed = round % 2 == 0 ? header : blocks;
    for (int i = 0; i < 3; ++i) {
      changed[random() % changed.size()] = static_cast<uint8_t>(random());
    }
    if (round % 2 == 0) {
      (void)error_of(changed, kXnnpackHeader);
    } else {
      (void)error_of(changed, kEthosUBlocks);
    }
  }
}

}  // namespace
