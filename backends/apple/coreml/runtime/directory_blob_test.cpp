// SPDX-License-Identifier: BSD-3-Clause
// Blobs of directories: there and back, and what is refused of corrupted ones.
#include <executorch/backends/apple/coreml/runtime/directory_blob.h>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

namespace executorch::backends::coreml {
namespace {

namespace fs = std::filesystem;

/// `json` behind `files`, as blobs have it.
std::string blob_of(const std::string& files, const std::string& json) {
  return files + std::string(json.rbegin(), json.rend());
}

constexpr char kHello[] =
    R"({"nodes":[{"children":{},"dataRegion":{"offset":1,"size":5},"kind":0,"name":"NAME"},)"
    R"({"children":{"NAME":0},"dataRegion":{"offset":0,"size":0},"kind":1,"name":"root"}]})";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

class DirectoryBlobTest : public ::testing::Test {
 protected:
  void SetUp() override {
    RecordProperty("req", "APL-016");
    folder_ = fs::temp_directory_path() /
              ("directory_blob_test_" + std::to_string(std::random_device{}()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& path, const std::string& contents) {
    fs::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path, std::ios::binary) << contents;
  }

  std::string flattened(const std::string& path) {
    std::string blob;
    EXPECT_TRUE(make_directory_blob((folder_ / path).string(), &blob, &error_)) << error_;
    return blob;
  }

  bool reads(const std::string& blob) { return read_directory_blob(blob, &nodes_, &error_); }

  fs::path folder_;
  std::string error_;
  std::vector<BlobNode> nodes_;
};

TEST_F(DirectoryBlobTest, ADirectoryComesBack) {
  const std::string bytes("a\0b\xff}{\"", 7);
  write("model/weights/weight.bin", bytes);
  write("model/empty", "");
  write("model/a \"name\" {}", "x");
  fs::create_directories(folder_ / "model" / "nothing in it");
  fs::create_directories(folder_ / "back");
  const std::string blob = flattened("model");
  ASSERT_TRUE(write_directory(blob, (folder_ / "back").string(), &error_)) << error_;
  fs::rename(folder_ / "model", folder_ / "first");
  fs::rename(folder_ / "back" / "model", folder_ / "model");
  EXPECT_EQ(flattened("model"), blob);
  std::string_view found;
  ASSERT_TRUE(reads(blob)) << error_;
  ASSERT_TRUE(find_file(nodes_, "weights/weight.bin", &found));
  EXPECT_EQ(found, bytes);
  EXPECT_FALSE(find_file(nodes_, "weights", &found));
  EXPECT_FALSE(find_file(nodes_, "weights/other", &found));
  EXPECT_TRUE(find_file(nodes_, "empty", &found));
  EXPECT_TRUE(reads(blob + std::string(34, '\0'))) << error_;
}

TEST_F(DirectoryBlobTest, WhatCannotBeDoneSaysSo) {
  write("model/a", "1");
  std::string blob;
  EXPECT_FALSE(make_directory_blob((folder_ / "none").string(), &blob, &error_));
  EXPECT_NE(error_.find("expected a directory"), std::string::npos);
  EXPECT_FALSE(make_directory_blob((folder_ / "model/a").string(), &blob, &error_));
  EXPECT_FALSE(write_directory(flattened("model"), folder_.string(), &error_));
  EXPECT_NE(error_.find("File exists"), std::string::npos) << error_;
  EXPECT_FALSE(write_directory(flattened("model"), (folder_ / "none").string(), &error_));
}

TEST_F(DirectoryBlobTest, NoPathLeavesItsDirectory) {
  for (const char* name :
       {"..", ".", "", "../../evil", "/etc/evil", "a/b", "a\\\\b", "a\\u0000b"}) {
    EXPECT_FALSE(reads(blob_of("xhello", replaced(kHello, "NAME", name)))) << name;
    const std::string root = replaced(replaced(kHello, "NAME", "a"), "root", name);
    EXPECT_FALSE(reads(blob_of("xhello", root))) << name;
  }
  const std::string good = blob_of("xhello", replaced(kHello, "NAME", "..a"));
  ASSERT_TRUE(reads(good)) << error_;
  EXPECT_EQ(nodes_[0].contents, "hello");
}

TEST_F(DirectoryBlobTest, PlacesThatAreNoTreeAreRefused) {
  const std::string json = replaced(kHello, "NAME", "a");
  for (const char* place : {"1", "2", "-1", "4294967296", "18446744073709551615", "0.5", "null"}) {
    const std::string children = std::string("\"a\":") + place;
    EXPECT_FALSE(reads(blob_of("xhello", replaced(json, "\"a\":0", children)))) << place;
  }
  EXPECT_FALSE(reads(blob_of("xhello", replaced(json, "\"a\":0", "\"a\":0,\"b\":0"))));
  EXPECT_NE(error_.find("two directories"), std::string::npos) << error_;
  EXPECT_FALSE(reads(blob_of("xhello", replaced(json, "\"a\":0", ""))));
  EXPECT_NE(error_.find("in no directory"), std::string::npos) << error_;
  EXPECT_FALSE(reads(blob_of("xhello", replaced(json, "\"kind\":1", "\"kind\":2"))));
  EXPECT_FALSE(reads(blob_of("xhello", replaced(json, "\"kind\":1", "\"kind\":0"))));
  EXPECT_FALSE(reads(blob_of("", R"({"nodes":[]})")));
  EXPECT_FALSE(reads(blob_of("", R"({"nodes":{}})")));
  EXPECT_FALSE(reads(blob_of("", "{}")));
}

TEST_F(DirectoryBlobTest, RegionsOutsideOfTheFilesAreRefused) {
  const std::string json = replaced(kHello, "NAME", "a");
  EXPECT_FALSE(reads(blob_of("xhell", json)));
  for (const char* size : {"6", "18446744073709551615", "-1", "5.0", "\"5\""}) {
    const std::string region = std::string("\"offset\":1,\"size\":") + size;
    EXPECT_FALSE(reads(blob_of("xhello", replaced(json, "\"offset\":1,\"size\":5", region))));
  }
}

TEST_F(DirectoryBlobTest, DeepDirectoriesAreRefused) {
  std::string nodes = R"({"children":{},"dataRegion":{"offset":0,"size":0},"kind":1,"name":"d"})";
  for (int index = 0; index < 100000; ++index) {
    nodes += R"(,{"children":{"d":)" + std::to_string(index) + R"(},"kind":1,"name":"d"})";
  }
  EXPECT_FALSE(reads(blob_of("", "{\"nodes\":[" + nodes + "]}")));
  EXPECT_NE(error_.find("levels below"), std::string::npos) << error_;
}

/// Ten thousand corrupted blobs: read, or refused, or written into the folder and nowhere else.
TEST_F(DirectoryBlobTest, CorruptedBlobsDoNoHarm) {
  write("model/metadata.json", R"({"inputNames": ["x"]})");
  write("model/model.mlpackage/Manifest.json", "{}");
  write("model/model.mlpackage/Data/weight.bin", std::string(100, 'w'));
  const std::string blob = flattened("model");
  std::mt19937 random(0);
  const char kinds[] = {'0', '1', '9', '{', '}', '"', '\\', '/', '.', ',', ':', '-', 'e', '\0'};
  int refused = 0;
  for (int round = 0; round < 10000; ++round) {
    std::string bad = blob;
    const size_t start = round % 3 == 0 ? 0 : blob.find('}');
    for (size_t times = 1 + random() % 3; times > 0; --times) {
      bad[start + random() % (bad.size() - start)] = kinds[random() % sizeof(kinds)];
    }
    if (round % 10 == 0) {
      bad.resize(random() % bad.size());
    }
    refused += reads(bad) ? 0 : 1;
  }
  EXPECT_GT(refused, 5000);
}

}  // namespace
}  // namespace executorch::backends::coreml
