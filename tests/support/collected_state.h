// A small state folder through days of builds, publications and collections: with a clock of its own, so that
// what was written today is a day old tomorrow.
#pragma once

#include <fmt/format.h>

#include <ctime>
#include <random>

#include "factory/collect/collect.h"
#include "factory/collect/garbage.h"
#include "factory/state/fsck.h"
#include "registry/index/index.h"
#include "support/small_state.h"

namespace kiln::testing {

// Keeps what the newest `snapshots` have, and nothing for its age.
inline Retention keep_newest(int snapshots) {
  Retention retention;
  retention.keep_for = std::chrono::seconds(0);
  retention.keep_steps_for = std::chrono::seconds(0);
  retention.keep_snapshots = snapshots;
  return retention;
}

// As `kiln gc --delete` does it, but for the lock.
inline Survey collect_all(const StatePaths& state, const Retention& retention, std::int64_t now,
                          FileSystem& files) {
  Index index = Index::open(state.root(), Index::Mode::write);
  Survey found = survey({state, files, retention, now, &index});
  collect(found, state, &index, files);
  return found;
}

class CollectedState : public SmallState {
 public:
  CollectedState() { next_day(); }
  void next_day() { clock.now = std::time(nullptr) + ++days * 86'400; }
  // Another base, and so other bits of every image.
  void change_base(const std::string& name) {
    archive = name;
    made.front() = RecipeDraft(Kind::base, "debian", {"trixie"}).rootfs("make it of " + name);
    change_test("try it " + tests);
  }
  void change_tests(const std::string& name) { change_test("try it " + (tests = name)); }
  Survey gc(const Retention& retention) { return collect_all(state, retention, clock.now, files); }

  int days = 0;
  std::string tests;
};

// Of every snapshot that the index has: what is missing of its images; "" when each still answers.
inline std::string missing_answers(const StatePaths& state) {
  const BlobStore store = BlobStore::reading(state.store());
  const Index index = Index::open(state.root(), Index::Mode::write);
  std::string missing;
  for (const Snapshot& snapshot : index.snapshots()) {
    const std::vector<IndexEntry> entries = index.entries(snapshot.number);
    if (entries.size() != snapshot.images) missing += fmt::format("{}: lost entries\n", snapshot.number);
    for (const IndexEntry& entry : entries) {
      if (auto damage = first_damage(blobs_of(entry.image, store)))
        missing +=
            fmt::format("{}: {}: {} {}\n", snapshot.number, entry.image.name(), damage->what, damage->damage);
      if (!fs::is_directory(state.root() / entry.image.layout))
        missing += fmt::format("{}: {}: no layout\n", snapshot.number, entry.image.name());
    }
  }
  return missing;
}

// What fsck finds, one a line; "" when all is whole.
inline std::string damage_in(const StatePaths& state, const FileSystem& files) {
  FsckOptions options;
  options.deep = true;
  const FsckReport report = check_store(state, files, options);
  std::string text;
  for (const BlobDamage& blob : report.blobs) text += blob.what + " " + blob.damage + "\n";
  for (const LayoutDamage& layout : report.layouts)
    text += layout.folder.string() + " " + layout.damage + "\n";
  for (const std::string& file : report.uses.unreadable) text += file + "\n";
  return text;
}

// Names of all files, but of what tells of itself.
inline std::vector<std::string> files_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (!entry.is_directory()) names.push_back(entry.path().lexically_relative(folder).string());
  std::sort(names.begin(), names.end());
  return names;
}

// The real files, and a word before each that goes.
class WatchedFiles final : public FileSystem {
 public:
  void write(const fs::path& path, std::string_view bytes) override { real_.write_output(path, bytes); }
  bool exists(const fs::path& path) const override { return real_.exists(path); }
  bool is_directory(const fs::path& path) const override { return real_.is_directory(path); }
  std::vector<std::string> list(const fs::path& folder) const override { return real_.list(folder); }
  void make_directories(const fs::path& path) override { real_.make_directories(path); }
  void remove_all(const fs::path& path) override {
    before(path);
    real_.remove_all(path);
  }
  void rename(const fs::path& from, const fs::path& to) override {
    before(from);
    real_.rename(from, to);
  }

  std::function<void(const fs::path& path)> before = [](const fs::path&) {};

 private:
  std::optional<std::string> read_bytes(const fs::path& path, std::uint64_t most) const override {
    return real_.read(path, most);
  }
  RealFileSystem real_;
};

}  // namespace kiln::testing
