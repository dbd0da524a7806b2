#include "factory/package/kept_findings.h"

#include <atomic>
#include <thread>

#include "package/packed_image.h"

namespace kiln {
namespace {

class KeptContentsTest : public testing::PackedImage {
 protected:
  // What the layers hold, by way of what is kept; `reads` counts how often they were read.
  Contents asked(const std::string& target = "x86_64_v3", const std::string& version = "0.1") {
    evidence::Declaration declared;
    declared.target = target;
    CacheFolder cache(folder / "evidence", findings_version(), files);
    KeptContents kept(cache, version);
    return kept.once(built, declared, store, [&] {
      ++reads;
      return examine(spec(), built, store, {testing::cpus()});
    });
  }
  fs::path file() {
    std::vector<std::string> names = files.list(folder / "evidence");
    EXPECT_EQ(names.size(), 1u) << "one file, and no lock is left";
    return folder / "evidence" / names.at(0);
  }
  static std::string text(const Contents& contents) {
    return to_json(contents.evidence).dump() + sbom::to_json(contents.inventory).dump() + contents.table +
           contents.excess;
  }

  std::atomic<int> reads = 0;
};

TEST_F(KeptContentsTest, EqualLayersAreReadOnceAndSayTheSame) {
  add_library(testing::wide_code());
  const std::string first = text(asked());
  EXPECT_EQ(text(asked()), first);
  EXPECT_NE(first.find("libc6"), std::string::npos);
  EXPECT_NE(first.find("code exceeds"), std::string::npos);
  EXPECT_EQ(reads, 1);
  file();
}

TEST_F(KeptContentsTest, OtherLayersPromisesAndVersionsAreReadAnew) {
  asked();
  asked("zen3");
  EXPECT_EQ(reads, 2);
  asked("zen3", "0.2");
  EXPECT_EQ(reads, 3);
  add_library(testing::wide_code());
  asked("zen3", "0.2");
  EXPECT_EQ(reads, 4);
}

TEST_F(KeptContentsTest, DamageIsAsGoodAsAbsence) {
  const std::string first = text(asked());
  const std::string whole = *files.read(file());
  for (std::size_t at = 0; at < whole.size(); at += 41) {
    std::string damaged = whole;
    damaged[at] ^= 1;
    files.write(file(), damaged);
    reads = 0;
    EXPECT_EQ(text(asked()), first);
    EXPECT_EQ(reads, 1) << "a bit flipped in byte " << at;
  }
  files.write(file(), whole.substr(0, whole.size() / 2));
  EXPECT_EQ(text(asked()), first);
  EXPECT_EQ(reads, 2);
}

TEST_F(KeptContentsTest, WhatIsGoneFromTheStoreIsNoticed) {
  const Digest report = asked().evidence.report;
  files.remove_all(store.path(report));
  asked();
  EXPECT_EQ(reads, 2);
  EXPECT_TRUE(store.has(report));
  fs::resize_file(store.path(report), 0);
  asked();
  EXPECT_EQ(reads, 3) << "an empty report is none";
  EXPECT_GT(fs::file_size(store.path(report)), 0u);
  files.write(store.path(built.layers[0].blob.digest), "short");
  EXPECT_THROW(asked(), Error);
  EXPECT_EQ(reads, 4);
}

TEST_F(KeptContentsTest, AFlippedBitInALayerIsNoticed) {
  asked();
  const fs::path layer = store.path(built.layers[0].blob.digest);
  std::string bytes = *files.read(layer);
  bytes[bytes.size() / 2] ^= 4;
  files.write(layer, bytes);
  EXPECT_THROW(asked(), Error);
  EXPECT_EQ(reads, 2);
}

TEST_F(KeptContentsTest, NoLockIsLeftWhereExaminingFails) {
  evidence::Declaration declared;
  CacheFolder cache(folder / "evidence", findings_version(), files);
  KeptContents kept(cache, "0.1");
  auto fails = []() -> Contents { throw Error(ExitCode::input, "damaged"); };
  EXPECT_THROW(kept.once(built, declared, store, fails), Error);
  EXPECT_EQ(files.list(folder / "evidence"), std::vector<std::string>{});
}

TEST_F(KeptContentsTest, WhoAsksAtTheSameTimeWaits) {
  add_library(testing::wide_code());
  std::vector<std::thread> cells;
  for (int cell = 0; cell < 4; ++cell) cells.emplace_back([&] { asked(); });
  for (std::thread& cell : cells) cell.join();
  EXPECT_EQ(reads, 1);
}

}  // namespace
}  // namespace kiln
