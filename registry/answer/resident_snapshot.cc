#include "registry/answer/resident_snapshot.h"

#include <sys/stat.h>

#include <algorithm>

#include "factory/base/text.h"
#include "registry/index/index_reading.h"
#include "registry/select/best_image.h"

namespace kiln {
namespace {

// Questions by rows, before the images are read: so many take about as long as the reading, with 2,500 images
// as with 25,000 (ci/bench index).
constexpr std::size_t kByRows = 32;
constexpr std::size_t kMostHosts = 64;
constexpr std::size_t kMostChosen = 4096;  // entries of an application, of some 5 kB each

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

std::shared_ptr<const IndexEntry> ResidentSnapshot::best(const Index& index, const IndexIdentity& file,
                                                         const ImageQuery& query, const Host& host) {
  const std::string application = lower_case(query.application);
  if (is_due(index, file, application)) read(index, file, application);
  const Found found = find(file, application, query, host);
  if (found.none_qualifies) return nullptr;
  if (found.entry) return found.entry;
  if (auto entry = found.image ? entry_of(index, *found.image) : std::nullopt) {
    auto kept = std::make_shared<const IndexEntry>(*std::move(entry));
    keep(file, application, found.number, kept);
    return kept;
  }
  auto entry = best_image(index, query, host, *cpus_);
  return entry ? std::make_shared<const IndexEntry>(*std::move(entry)) : nullptr;
}

ResidentSnapshot::Found ResidentSnapshot::find(const IndexIdentity& file, const std::string& application,
                                               const ImageQuery& query, const Host& host) {
  const std::lock_guard held(lock_);
  const auto known = applications_.find(application);
  if (file_ != file || known == applications_.end() || !known->second.images) return {};
  Images& images = *known->second.images;
  const SnapshotTable::Image* image = selector_for(host, images).best(query);
  if (image == nullptr) return {nullptr, std::nullopt, 0, true};
  const std::size_t number = images.table.number_of(*image);
  if (const auto chosen = images.chosen.find(number); chosen != images.chosen.end())
    return {chosen->second, std::nullopt, number};
  return {nullptr, *image, number};
}

void ResidentSnapshot::keep(const IndexIdentity& file, const std::string& application, std::size_t number,
                            const std::shared_ptr<const IndexEntry>& entry) {
  const std::lock_guard held(lock_);
  const auto known = applications_.find(application);
  if (file_ != file || known == applications_.end() || !known->second.images) return;
  auto& chosen = known->second.images->chosen;
  if (chosen.size() >= kMostChosen) chosen.clear();
  chosen[number] = entry;
}

bool ResidentSnapshot::is_due(const Index& index, const IndexIdentity& file, const std::string& application) {
  const std::lock_guard held(lock_);
  if (file_ != file) {
    applications_.clear();
    for (const auto& [name, images] : index.applications()) applications_[name];
    file_ = file;
  }
  const auto known = applications_.find(application);
  if (known == applications_.end() || known->second.is_by_rows || known->second.is_reading ||
      known->second.images)
    return false;
  known->second.is_reading = ++known->second.questions > kByRows;
  return known->second.is_reading;
}

void ResidentSnapshot::read(const Index& index, const IndexIdentity& file, const std::string& application) {
  std::unique_ptr<Images> images;
  try {
    std::optional<RawTableImages> found;
    index.read([&](IndexState& state) { found = table_images(state, application); });
    if (found) images = std::make_unique<Images>(parsed(*std::move(found)));
  } catch (const std::exception&) {
    // A damaged row, or no memory for all: questions that do not need them go on by rows.
  }
  const std::lock_guard held(lock_);
  const auto known = applications_.find(application);
  if (file_ != file || known == applications_.end()) return;  // of a snapshot that is no longer current
  known->second.is_reading = false;
  known->second.is_by_rows = images == nullptr;
  known->second.images = std::move(images);
}

TableSelector& ResidentSnapshot::selector_for(const Host& host, Images& images) const {
  const auto known = std::ranges::find_if(images.hosts, [&](const auto& one) { return one.first == host; });
  if (known != images.hosts.end()) return known->second;
  if (images.hosts.size() >= kMostHosts) images.hosts.clear();
  return images.hosts
      .emplace_back(std::piecewise_construct, std::forward_as_tuple(host),
                    std::forward_as_tuple(images.table, host, *cpus_))
      .second;
}

}  // namespace kiln
