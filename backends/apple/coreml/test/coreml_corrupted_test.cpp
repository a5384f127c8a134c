// SPDX-License-Identifier: BSD-3-Clause
// Ten thousand payloads that are not what was exported: loaded and run, or refused, and nothing is
// written outside of the cache's folder; the sanitizers watch.
#include <executorch/backends/apple/coreml/test/fixture.h>

#include <random>

namespace executorch::backends::coreml {
namespace {

class CoreMLCorruptedTest : public CoreMLFixture {
 protected:
  /// What stands in the test's folder beside the cache's.
  std::vector<std::string> outside() {
    std::vector<std::string> names;
    runtime::list_folder(folder_, &names);
    return names;
  }
};

/// Bytes, words of the JSON, and ends: most changes are in the JSON, which says where all is.
std::string corrupted(const std::string& payload, std::mt19937& random) {
  constexpr const char* kWords[] = {"..",  "/",    "\"",  "{",  "}",     "[",      "-1",
                                    "999", "4e99", ":0,", "\\", "\"\":", "ridx99", "\xff"};
  const auto below = [&](size_t count) { return random() % count; };
  std::string bytes = payload;
  const size_t json = payload.find("}]}");  // reversed, it begins so
  for (size_t changes = 1 + below(3); changes > 0; --changes) {
    const size_t start = below(2) == 0 ? 0 : std::min(json, bytes.size() - 1);
    const size_t at = start + below(bytes.size() - start);
    switch (below(4)) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      default: {
        std::string word = kWords[below(std::size(kWords))];
        std::reverse(word.begin(), word.end());
        bytes.replace(at, below(2) * word.size(), word);
      }
    }
  }
  if (below(20) == 0) {
    bytes.resize(below(bytes.size()));
  }
  return bytes;
}

TEST_F(CoreMLCorruptedTest, PayloadsAreRefusedOrRun) {
  RecordProperty("req", "APL-016");
  const std::string shared = R"(CMJR{"version": 1, "key": "k", "functionName": "forward"})";
  const std::string models[] = {
      payload(),
      payload(R"({"identifier": "two", "methods": {"forward": {"inputNames": ["x"],)"
              R"("outputNames": ["y"]}}})"),
      shared};
  const std::vector<std::string> before = outside();
  const auto x = make_tensor_ptr({2, 3}, std::vector<float>(6));
  const auto y = make_tensor_ptr({2, 3}, std::vector<float>(6));
  std::mt19937 random(5);
  int num_refused = 0;
  int num_run = 0;
  for (int round = 0; round < 10000; ++round) {
    const std::string& model = models[round % 10 == 0 ? 2 : round % 2];
    named_data_.data["k"] = corrupted(models[1], random);
    backend_.purge_models_cache();  // all that is loaded is written, and compiled
    const auto delegate = load(corrupted(model, random));
    if (delegate->error() != Error::Ok) {
      ++num_refused;
    } else {
      num_run += delegate->run({x, y}) == Error::Ok ? 1 : 0;
    }
  }
  EXPECT_GT(num_refused, 3000);
  EXPECT_GT(num_run, 100);
  EXPECT_GT(stand_in_.count("compile"), 100u);
  std::vector<std::string> after = outside();
  after.erase(std::remove(after.begin(), after.end(), "caches"), after.end());
  EXPECT_EQ(after, before);
  std::vector<std::string> left;
  ASSERT_TRUE(runtime::list_folder(cache_ + "/temp", &left));
  EXPECT_TRUE(left.empty());
  ASSERT_TRUE(runtime::list_folder(folder_ + "/caches", &(left = {})));
  EXPECT_EQ(left, std::vector<std::string>{"executorchcoreml"});
}

}  // namespace
}  // namespace executorch::backends::coreml
