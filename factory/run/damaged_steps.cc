#include "factory/run/damaged_steps.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <memory>

#include "factory/base/durable_file.h"
#include "factory/state/record_store.h"

namespace kiln {
namespace {

std::string described(const LayerChain& chain, std::size_t layer, const std::string& damage) {
  return fmt::format("layer {}, {}, {}", layer + 1, chain.layers[layer].blob.digest.text(), damage);
}

bool is_believable(StepRecord record, const BlobStore& store, bool whole_chain) {
  if (!whole_chain)
    std::erase_if(record.chain.layers, [&](const BuiltLayer& layer) { return layer.step != record.key; });
  return seen_damage(record.chain, store).empty();
}

bool can_be_read(const std::string& test, const RecordReader& reader) {
  return unless_error([&] {
    reader.test(test);
    return true;
  });
}

// A damaged record is believed no more than one that lies.
bool is_believable(const std::string& key, const StatePaths& state, const FileSystem& files,
                   bool whole_chain) {
  return unless_error([&] {
    auto record = RecordReader(state, files).step(key);
    return !record || is_believable(*record, BlobStore::reading(state.store()), whole_chain);
  });
}

// ninja has nanoseconds in 64 bits, and 0 is a file that is missing.
bool is_before_1970(const timespec& time) { return time.tv_sec <= 0; }

std::size_t renew_in(const std::filesystem::path& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  if (!open) return 0;
  std::size_t renewed = 0;
  const int at = ::dirfd(open.get());
  while (const dirent* entry = ::readdir(open.get())) {
    struct stat status {};
    if (::fstatat(at, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode) ||
        !is_before_1970(status.st_mtim))
      continue;
    if (::utimensat(at, entry->d_name, nullptr, AT_SYMLINK_NOFOLLOW) != 0 && errno != ENOENT)
      fail_with_errno(errno, "set the time of", folder / entry->d_name);
    ++renewed;
  }
  return renewed;
}

}  // namespace

std::vector<std::string> damaged_steps(const BuildPlan& plan, const ImageNumbers& images,
                                       const StatePaths& state, const FileSystem& files, bool whole_chain) {
  std::vector<std::string> found;
  for (StepTable::Number step : StepUses(plan, images).steps()) {
    const bool is_test = plan.steps().pattern(step).kind == StepKind::test;
    std::string key = plan.steps().hex(step);
    if (is_test ? !can_be_read(key, RecordReader(state, files))
                : !is_believable(key, state, files, whole_chain))
      found.push_back(std::move(key));
  }
  return found;
}

bool is_undamaged(const std::string& key, const StatePaths& state, const FileSystem& files,
                  bool whole_chain) {
  return is_believable(key, state, files, whole_chain) && can_be_read(key, RecordReader(state, files));
}

std::string seen_damage(const LayerChain& chain, const BlobStore& store) {
  for (std::size_t i = 0; i < chain.layers.size(); ++i) {
    const Descriptor& blob = chain.layers[i].blob;
    std::string damage = seen_damage(store, blob.digest, blob.size);
    if (!damage.empty()) return described(chain, i, damage);
  }
  return "";
}

std::string take_damaged_layers(const LayerChain& chain, const BlobStore& store) {
  std::string taken;
  for (std::size_t i = 0; i < chain.layers.size(); ++i) {
    const Descriptor& blob = chain.layers[i].blob;
    std::string damage = read_damage(store, blob.digest, blob.size);
    if (damage.empty()) continue;
    taken += (taken.empty() ? "" : "; ") + described(chain, i, damage);
    store.remove(blob.digest);
  }
  return taken;
}

std::size_t renew_record_times(const StatePaths& state) {
  return renew_in(state.step_folder()) + renew_in(state.test_folder()) + renew_in(state.built_folder());
}

}  // namespace kiln
