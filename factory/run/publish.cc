#include "factory/run/publish.h"

#include <algorithm>
#include <map>
#include <set>

#include "factory/base/digest.h"
#include "factory/base/error.h"
#include "factory/oci/layout.h"
#include "factory/state/entry_stamp.h"
#include "factory/state/sif_folder.h"
#include "factory/state/state_names.h"
#include "registry/select/gain.h"

namespace kiln {
namespace {

// "pytorch 2.6.0 (pip)" of the step "test pytorch 2.6.0 (pip)".
std::string tested_thing(const Step& test) {
  constexpr std::string_view kTest = "test ";
  return test.title.starts_with(kTest) ? test.title.substr(kTest.size()) : test.title;
}

struct Found {
  std::string shortfall;  // why it was not run in full, "" where it was
  TestRun run;
};

Found found(const std::string& key, const RecordReader& reader) {
  try {
    auto record = reader.test(key);
    if (!record) return {"its record is missing", {}};
    return {not_run_reason(record->last_line), test_run(*record)};
  } catch (const Error&) {
    return {"its record is damaged", {}};  // whatever it was, nobody can say that it passed
  }
}

// When the newest of the measurements was taken; of none, when the image was created.
std::int64_t time_of_words(const ImageRecord& image, const std::vector<StockWord>& words) {
  std::int64_t newest = 0;
  for (const StockWord& word : words)
    if (word.measured != nullptr)
      newest = std::max(newest, unix_seconds_of(word.measured->taken).value_or(0));
  return newest != 0 ? newest : unix_seconds_of(image.created).value_or(0);
}

constexpr std::int64_t kReadAgainAfter = 7LL * 24 * 3600;  // a week

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

TestRun test_run(const TestRecord& record) {
  return {record.host, record.cpu, record.accelerators, record.kernel, record.taken, record.emulator};
}

TestsRecord tests_of(const ResolvedImage& image, const StepTable& steps, const RecordReader& reader) {
  TestsRecord tests;
  for (StepTable::Number number : image.tests()) {
    std::string what = tested_thing(steps.pattern(number));
    Found test = found(steps.hex(number), reader);
    if (test.run != TestRun{}) tests.ran.emplace(what, std::move(test.run));
    if (test.shortfall.empty())
      tests.passed.push_back(std::move(what));
    else
      tests.not_run.emplace(std::move(what), std::move(test.shortfall));
  }
  std::ranges::sort(tests.passed);
  return tests;
}

void attach_gain_words(std::vector<ImageRecord>& records, const std::vector<IndexEntry>& published,
                       const BlobStore& store) {
  const MeasuredSetups setups = measured_setups(published);
  if (setups.empty()) return;
  std::map<std::string, const IndexEntry*> measured;  // by identity
  std::map<std::string, Digest> manifests;            // by key
  for (const IndexEntry& entry : published) {
    measured.emplace(entry.image.identity().hex(), &entry);
    if (!entry.image.external()) manifests.emplace(entry.image.key, entry.image.manifest);
  }
  const std::vector<Measurement> none;
  for (ImageRecord& record : records) {
    const auto found = measured.find(record.identity().hex());
    const auto words =
        stock_words(record, found == measured.end() ? none : found->second->measurements, setups);
    const auto size = store.size_of(record.manifest);
    if (words.empty() || !size) continue;  // without its manifest it is refused later
    std::erase_if(record.attachments, is_later_document);
    record.attachments.push_back(
        attach({std::string(kGainKind), std::string(kGainType), gain_document(record, words, manifests)},
               {std::string(media_type::kManifest), record.manifest, *size, {}}, time_of_words(record, words),
               store));
  }
}

fs::path PublicationMark::file() const { return state_.nights(plan_.name()) / "published.json"; }

std::string PublicationMark::stamp() const {
  std::string text = plan_.name() + "\n";
  for (std::uint32_t number : all_images(plan_)) {
    const ResolvedImage image = plan_.image(number);
    text += image.id() + " " + image.reference() + " " + image.record_name() + "\n";
  }
  for (std::uint32_t number = 0; number < plan_.broken(); ++number)
    text += plan_.broken(number).request.id + "\n";
  for (const fs::path& path :
       {state_.root() / "index.db", state_.root() / "index.db-journal", state_.built_folder(),
        state_.sif_snapshots(), state_.sif_folder(), state_.sif_folder() / "."})
    text += entry_stamp(path) + "\n";
  return Digest::of(text).hex();
}

bool PublicationMark::is_valid() const {
  const auto kept = read_stamp(file(), files_);
  return kept && kept->holds(stamp(), clock_.unix_seconds(), kReadAgainAfter);
}

void PublicationMark::keep() const try {
  files_.make_directories(file().parent_path());
  keep_stamp({stamp(), clock_.unix_seconds()}, file(), files_);
} catch (const Error&) {  // on a full disk; what was published is published
}

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
  return static_cast<std::size_t>(std::ranges::count_if(
      images, [&](std::uint32_t number) { return names.is_built(plan.image(number), plan.steps()); }));
}

LackingImages lacking_images(const BuildPlan& plan, const StatePaths& state, const FileSystem& files) {
  LackingImages lacking;
  if (!files.exists(state.root() / "index.db")) return lacking;
  std::set<std::string> wanted;
  for (std::uint32_t number : all_images(plan)) wanted.insert(plan.image(number).reference());
  for (const IndexEntry& entry : Index::open(state.root(), Index::Mode::read).entries()) {
    const auto& matrices = entry.matrices;
    if (!std::ranges::binary_search(matrices, plan.name())) continue;
    ++lacking.published;
    if (!wanted.contains(entry.image.name())) lacking.names.push_back(entry.image.name());
  }
  return lacking;
}

}  // namespace kiln
