#include "registry/answer/resident_snapshot.h"

#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "registry/index/index_reading.h"
#include "registry/select/best_image.h"

namespace kiln {
namespace {

constexpr std::size_t kFewest = 32;             // questions
constexpr std::size_t kImagesPerQuestion = 20;  // 80 and 1,400 µs
constexpr std::size_t kMostHosts = 64;

// By its name in the current snapshot; nullopt: it has other bits by now, or none.
std::optional<IndexEntry> entry_of(const Index& index, const SnapshotTable::Image& image) {
  auto entry = index.found_by([&](IndexState& state) -> std::optional<RawEntry> {
    if (const Asked asked = asked_for(state, {}); !asked.live || asked.number < 0) return std::nullopt;
    std::optional<TagRow> tag = state.tag(image.tag);
    if (!tag || tag->lost) return std::nullopt;
    return raw_entry(state, *std::move(tag));
  });
  if (entry && entry->image.manifest != image.manifest) return std::nullopt;
  return entry;
}

}  // namespace

IndexIdentity identity_of_index(const std::filesystem::path& state) {
  struct stat found {};
  if (::stat((state / "index.db").c_str(), &found) != 0) return {};
  return {found.st_dev, found.st_ino, static_cast<std::uint64_t>(found.st_size),
          found.st_mtim.tv_sec * 1'000'000'000 + found.st_mtim.tv_nsec};
}

std::optional<IndexEntry> ResidentSnapshot::best(const Index& index, const IndexIdentity& file,
                                                 const ImageQuery& query, const Host& host) {
  if (is_due(index, file)) read(index, file);
  const Found found = find(file, query, host);
  if (found.none_qualifies) return std::nullopt;
  auto entry = found.image ? entry_of(index, *found.image) : std::nullopt;
  return entry ? std::move(entry) : best_image(index, query, host, *cpus_);
}

ResidentSnapshot::Found ResidentSnapshot::find(const IndexIdentity& file, const ImageQuery& query,
                                               const Host& host) {
  const std::lock_guard held(lock_);
  if (!resident_ || resident_->file != file) return {};
  const SnapshotTable::Image* image = selector_for(host).best(query);
  return image == nullptr ? Found{std::nullopt, true} : Found{*image, false};
}

bool ResidentSnapshot::is_due(const Index& index, const IndexIdentity& file) {
  const std::lock_guard held(lock_);
  if (is_reading_ || (resident_ && resident_->file == file)) return false;
  if (counted_ != file) {
    resident_.reset();
    counted_ = file;
    questions_ = 0;
    std::size_t images = 0;
    for (const auto& [application, count] : index.applications()) images += count;
    enough_ = std::max(kFewest, images / kImagesPerQuestion);
  }
  is_reading_ = ++questions_ > enough_;
  return is_reading_;
}

void ResidentSnapshot::read(const Index& index, const IndexIdentity& file) {
  std::unique_ptr<Resident> read;
  try {
    read = std::make_unique<Resident>(file, SnapshotTable(index.entries()));
  } catch (const std::exception&) {
    // A damaged image, or no memory for all: questions that do not need them go on by rows.
  }
  const std::lock_guard held(lock_);
  is_reading_ = false;
  if (read == nullptr) enough_ = SIZE_MAX;
  resident_ = std::move(read);
}

TableSelector& ResidentSnapshot::selector_for(const Host& host) {
  auto& hosts = resident_->hosts;
  const std::string name = host.known ? to_json(host.description).dump() : "";
  if (auto known = hosts.find(name); known != hosts.end()) return known->second;
  if (hosts.size() >= kMostHosts) hosts.clear();
  return hosts.try_emplace(name, resident_->images, host, *cpus_).first->second;
}

}  // namespace kiln
