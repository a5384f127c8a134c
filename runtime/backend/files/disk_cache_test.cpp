// SPDX-License-Identifier: BSD-3-Clause
// What is kept on disk: by several threads and processes, within a size, after crashes.
#include <executorch/runtime/backend/files/disk_cache.h>
#include <executorch/runtime/backend/files/folders.h>
#include <executorch/runtime/backend/files/whole_file.h>
#include <executorch/runtime/platform/runtime.h>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <ctime>
#include <fstream>
#include <iterator>
#include <thread>

namespace {

using namespace executorch::runtime;

std::string contents(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void write(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

/// As if the last use were so many seconds ago.
void age(const std::string& path, time_t seconds) {
  const timespec times[2] = {{std::time(nullptr) - seconds, 0}, {std::time(nullptr) - seconds, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

class DiskCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime_init();
    folder_ = ::testing::TempDir() + "disk_cache_test_" + unique_name();
  }
  void TearDown() override { remove_all(folder_); }

  std::shared_ptr<DiskCache> open(uint64_t max_bytes = 1000, const std::string& version = "1") {
    const auto cache = DiskCache::open({folder_, ".made", version, max_bytes});
    EXPECT_TRUE(cache.ok());
    return *cache;
  }

  /// An entry that is a folder with one file of so many bytes.
  DiskCache::Make folder_of(size_t num_bytes) {
    return [this, num_bytes](const std::string& path) {
      ++num_made_;
      if (!make_folders(path)) {
        return Error::AccessFailed;
      }
      write(path + "/file", std::string(num_bytes, 'x'));
      return Error::Ok;
    };
  }

  std::vector<std::string> listed(const std::string& folder) {
    std::vector<std::string> names;
    EXPECT_TRUE(list_folder(folder_ + "/" + folder, &names));
    return names;
  }

  std::string folder_;
  std::atomic<int> num_made_ = 0;
};

TEST_F(DiskCacheTest, WhatWasMadeIsFoundAgain) {
  for (int run = 0; run < 2; ++run) {
    const auto entry = open()->get("a", folder_of(10));
    ASSERT_TRUE(entry.ok());
    EXPECT_EQ(entry->path(), folder_ + "/models/a.made");
    EXPECT_EQ(contents(entry->path() + "/file"), std::string(10, 'x'));
  }
  EXPECT_EQ(num_made_, 1);
  EXPECT_EQ(listed("models"), (std::vector<std::string>{"a.accessed", "a.made"}));
  EXPECT_TRUE(listed("temp").empty());
  EXPECT_EQ(contents(folder_ + "/version.txt"), "1");
}

TEST_F(DiskCacheTest, KeysThatLeaveTheFolderAreRefused) {
  const auto cache = open();
  for (const char* key : {"", "..", "../a", "a/b", "a\\b", ".a"}) {
    EXPECT_EQ(cache->get(key, folder_of(1)).error(), Error::InvalidArgument) << key;
  }
  EXPECT_EQ(cache->get(std::string(201, 'a'), folder_of(1)).error(), Error::InvalidArgument);
  EXPECT_EQ(num_made_, 0);
}

TEST_F(DiskCacheTest, WhatFailsLeavesNothing) {
  const auto cache = open();
  const auto fails = [&](const std::string& path) {
    static_cast<void>(folder_of(3)(path));
    return Error::NotSupported;
  };
  EXPECT_EQ(cache->get("a", fails).error(), Error::NotSupported);
  EXPECT_TRUE(listed("temp").empty());
  EXPECT_TRUE(cache->get("a", folder_of(1)).ok());
  write(folder_ + "/file", "");
  EXPECT_EQ(DiskCache::open({folder_ + "/file"}).error(), Error::AccessFailed);
}

TEST_F(DiskCacheTest, TheLeastRecentlyUsedGoesUnlessItIsInUse) {
  const auto cache = open(1000);
  const auto used = cache->get("used", folder_of(400));
  ASSERT_TRUE(cache->get("old", folder_of(400)).ok());
  ASSERT_TRUE(cache->get("young", folder_of(100)).ok());
  age(folder_ + "/models/used.accessed", 300);
  age(folder_ + "/models/old.accessed", 200);
  age(folder_ + "/models/young.accessed", 100);
  ASSERT_TRUE(cache->get("new", folder_of(400)).ok());
  EXPECT_EQ(listed("models"),
            (std::vector<std::string>{"new.accessed", "new.made", "used.accessed", "used.made",
                                      "young.accessed", "young.made"}));
  // Larger than all that may be kept: it is used all the same.
  EXPECT_TRUE(cache->get("large", folder_of(5000)).ok());
}

TEST_F(DiskCacheTest, NothingInUseIsTakenAway) {
  const auto cache = open();
  auto used = cache->get("a", folder_of(1));
  auto again = cache->get("a", folder_of(1));
  EXPECT_FALSE(open()->purge());
  cache->remove(std::move(*again));
  EXPECT_TRUE(is_folder(used->path()));
  cache->remove(std::move(*used));
  EXPECT_TRUE(listed("models").empty());
  EXPECT_TRUE(cache->get("a", folder_of(1)).ok());
  EXPECT_TRUE(cache->purge());
  EXPECT_EQ(num_made_, 2);
}

/// Systems empty folders of caches as they like.
TEST_F(DiskCacheTest, WhatOthersTookAwayIsMadeAgainWhileItIsInUse) {
  const auto cache = open();
  const auto used = cache->get("a", folder_of(1));
  EXPECT_TRUE(remove_all(used->path()));
  EXPECT_TRUE(cache->get("a", folder_of(1)).ok());
  EXPECT_TRUE(is_folder(used->path()));
  EXPECT_TRUE(remove_all(folder_));
  EXPECT_TRUE(cache->get("a", folder_of(1)).ok());
  EXPECT_EQ(num_made_, 3);
  EXPECT_TRUE(remove_all(folder_));
  write(folder_, "");
  EXPECT_EQ(cache->get("a", folder_of(1)).error(), Error::AccessFailed);
}

TEST_F(DiskCacheTest, AnotherVersionIsEmptied) {
  ASSERT_TRUE(open()->get("a", folder_of(1)).ok());
  ASSERT_TRUE(open(1000, "2")->get("a", folder_of(1)).ok());
  EXPECT_EQ(num_made_, 2);
  EXPECT_EQ(contents(folder_ + "/version.txt"), "2");
}

TEST_F(DiskCacheTest, OneThreadMakesWhatOthersWaitFor) {
  const auto cache = open();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const auto entry = cache->get("a", folder_of(100));
      EXPECT_TRUE(entry.ok() && contents(entry->path() + "/file").size() == 100);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(num_made_, 1);
}

/// Each adds a line when it makes the entry.
TEST_F(DiskCacheTest, OneProcessMakesWhatOthersWaitFor) {
  const std::string log = ::testing::TempDir() + "disk_cache_log_" + unique_name();
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(fork());
    if (children.back() == 0) {
      const auto cache = DiskCache::open({folder_, ".made"});
      const auto entry = (*cache)->get("a", [&](const std::string& path) {
        usleep(20000);
        std::ofstream(log, std::ios::app) << "made\n";
        return folder_of(7)(path);
      });
      _exit(entry.ok() && contents(entry->path() + "/file").size() == 7 ? 0 : 1);
    }
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(contents(log), "made\n");
  remove_all(log);
}

TEST_F(DiskCacheTest, ACrashLeavesNoHalfOfAnEntry) {
  const pid_t child = fork();
  if (child == 0) {
    const auto cache = DiskCache::open({folder_, ".made"});
    static_cast<void>((*cache)->get("a", [&](const std::string& path) {
      static_cast<void>(folder_of(5)(path));
      _exit(3);
      return Error::Ok;
    }));
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(WEXITSTATUS(status), 3);
  ASSERT_EQ(listed("temp").size(), 2u) << "a part, and the lock of who made it";
  EXPECT_EQ(listed("models"), std::vector<std::string>{"a.accessed"});
  const auto entry = open()->get("a", folder_of(9));
  ASSERT_TRUE(entry.ok());
  EXPECT_EQ(contents(entry->path() + "/file").size(), 9u);
  ASSERT_EQ(listed("temp").size(), 1u) << "may be of another process";
  age(folder_ + "/temp/" + listed("temp")[0], 25 * 60 * 60);
  open();
  EXPECT_TRUE(listed("temp").empty());
}

TEST_F(DiskCacheTest, FilesAreWrittenWholeOrNotAtAll) {
  ASSERT_TRUE(make_folders(folder_ + "/deep/down"));
  const std::string path = folder_ + "/deep/file";
  ASSERT_EQ(write_whole_file(path, "one"), Error::Ok);
  ASSERT_EQ(write_whole_file(path, "two"), Error::Ok);
  EXPECT_EQ(contents(path), "two");
  EXPECT_EQ(write_whole_file(folder_ + "/none/file", "x"), Error::AccessFailed);
  EXPECT_EQ(write_whole_file(folder_ + "/deep/down", "x"), Error::AccessFailed);
  EXPECT_EQ(listed("deep"), (std::vector<std::string>{"down", "file"}));
  ASSERT_EQ(symlink((folder_ + "/deep").c_str(), (folder_ + "/link").c_str()), 0);
  EXPECT_TRUE(remove_all(folder_ + "/link"));
  EXPECT_EQ(total_bytes(folder_), 3u) << "the link, not what it leads to";
}

}  // namespace
