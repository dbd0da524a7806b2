#include "factory/run/publish.h"

#include <algorithm>
#include <map>
#include <set>

#include "factory/run/gain_words.h"
#include "factory/run/tested.h"
#include "factory/state/record_store.h"
#include "factory/state/sif_folder.h"
#include "factory/state/state_names.h"

namespace kiln {
namespace {

// Names of what broken cells published before.
void add_broken(const BuildPlan& plan, const std::vector<std::uint32_t>& broken,
                const std::vector<IndexEntry>& published, std::vector<std::string>& failed) {
  std::set<std::string> cells;
  for (std::uint32_t number : broken) cells.insert(plan.broken(number).request.id);
  if (cells.empty()) return;
  for (const IndexEntry& entry : published)
    if (!entry.image.external() && cells.contains(entry.image.cell)) failed.push_back(entry.image.name());
}

// Where images lie that are in the index already: a publication that goes nowhere else takes nothing away.
void keep_places(std::vector<ImageRecord>& records, const std::vector<IndexEntry>& published) {
  std::map<std::string, PublishedRecord> places;
  for (const IndexEntry& entry : published)
    if (!entry.image.published.registry.empty())
      places.emplace(entry.image.identity().hex(), entry.image.published);
  if (places.empty()) return;
  for (ImageRecord& record : records)
    if (auto found = places.find(record.identity().hex()); found != places.end())
      record.published = found->second;
}

}  // namespace

Published publish_built(const BuildPlan& plan, const ImageNumbers& images, const StatePaths& state,
                        const FileSystem& files, const Clock& clock, const PublishOptions& options) {
  StateNames names(state, files);
  RecordReader reader(state, files);
  std::vector<ImageRecord> records;
  std::vector<std::string> failed;
  std::vector<FailingImage> failing;
  for (std::uint32_t number : images) {
    const ResolvedImage image = plan.image(number);
    auto record = names.is_built(image, plan.steps()) ? reader.image(image.record_name()) : std::nullopt;
    if (record) record->tests = tests_of(image, plan.steps(), reader);
    if (record)
      records.push_back(std::move(*record));
    else if (names.is_failing(image, plan.steps()))
      failing.push_back({image.reference(), image.key()});
    else
      failed.push_back(image.reference());
  }
  if (records.empty() && failing.empty())
    throw Error(ExitCode::no_match, "nothing of '" + plan.name() + "' is built", "run `kiln build` first");
  const std::size_t not_built = failed.size() + options.broken.size();
  Index index = Index::open(state.root(), Index::Mode::write);
  const std::int64_t before = index.current();
  const std::vector<IndexEntry> published = index.entries();
  keep_places(records, published);
  attach_gain_words(records, published, BlobStore(state.store()));
  if (options.place) options.place(records);
  add_broken(plan, options.broken, published, failed);
  std::int64_t number =
      index.publish(records, failed, rfc3339(clock.unix_seconds()), plan.name(), {options.pruned, failing});
  show_sifs(state, number, number == before ? published : index.entries());
  return {number, number != before, records.size(), not_built, failing.size()};
}

std::size_t count_built(const BuildPlan& plan, const ImageNumbers& images, const StatePaths& state,
                        const FileSystem& files) {
  StateNames names(state, files);
  return static_cast<std::size_t>(std::count_if(images.begin(), images.end(), [&](std::uint32_t number) {
    return names.is_built(plan.image(number), plan.steps());
  }));
}

LackingImages lacking_images(const BuildPlan& plan, const StatePaths& state, const FileSystem& files) {
  LackingImages lacking;
  if (!files.exists(state.root() / "index.db")) return lacking;
  std::set<std::string> wanted;
  for (std::uint32_t number : all_images(plan)) wanted.insert(plan.image(number).reference());
  for (const IndexEntry& entry : Index::open(state.root(), Index::Mode::read).entries()) {
    const auto& matrices = entry.matrices;
    if (!std::binary_search(matrices.begin(), matrices.end(), plan.name())) continue;
    ++lacking.published;
    if (!wanted.contains(entry.image.name())) lacking.names.push_back(entry.image.name());
  }
  return lacking;
}

}  // namespace kiln
