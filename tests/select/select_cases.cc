// What `kiln select` answers, for the oracle: worlds of images, hosts and questions on stdin, an answer a
// line.
//
//   {"images": [{"image": {…}, "stale", "failing", "retired", "measurements": [{…}]}],
//    "cases": [{"host": {…} or null, "dsl": {…}, "allow_failing": false, "stock": ["xla"]}]}
//   → {"answer": "repository:tag, or a mapping's reference", "code", "digest", "error"}; "" is no answer.
// Of a case with "explain": true also "refused": {name: why}.
//
// Each is asked of the entries and of a table of them, and in every third world of an index that has them, of
// whose rows the table is then made: two answers are an error.
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "factory/base/effects.h"
#include "factory/base/error.h"
#include "registry/index/image_profiles.h"
#include "registry/index/index_reading.h"
#include "registry/index/index_writer.h"
#include "registry/select/best_image.h"
#include "registry/select/select.h"
#include "registry/select/snapshot_table.h"

namespace kiln {
namespace {

// Graph compilers are known by recipes, too, not only by the images.
const std::vector<std::string> kCompilers = {"xla", "inductor", "tvm", "glow", "ngraph"};

IndexEntry entry_from_json(const JsonNode& node) {
  IndexEntry entry;
  entry.image = image_record_from_json(node.at("image"));
  entry.stale = node.at("stale").boolean();
  entry.failing = node.at("failing").boolean();
  entry.retired = node.at("retired").string();
  for (const JsonNode& measurement : node.at("measurements").items())
    entry.measurements.push_back(measurement_from_json(measurement));
  return entry;
}

// An index has a name, and a manifest, once; some worlds have not.
bool fits_an_index(const std::vector<IndexEntry>& entries) {
  std::set<std::string> names, identities;
  for (const IndexEntry& entry : entries) {
    const ImageRecord& image = entry.image;
    names.insert(image.repository + ":" + (image.external() ? image.code : image.tag));
    identities.insert(image.identity().hex());
  }
  return names.size() == entries.size() && identities.size() == entries.size();
}

// In memory.
class WorldIndex {
 public:
  explicit WorldIndex(const std::vector<IndexEntry>& entries) : state_("/nowhere", IndexState::InMemory{}) {
    Transaction transaction(state_.database, Database::Access::write);
    IndexWriter writer(state_);
    std::vector<TagChange> changes;
    for (const IndexEntry& entry : entries) {
      const ImageRecord& image = entry.image;
      const std::string id = image.identity().hex();
      writer.put_image(image, to_json(image).dump());
      std::int64_t number = 0;
      for (const Measurement& measurement : entry.measurements)
        writer.put_measurement(id, ++number, to_json(measurement).dump());
      changes.push_back(
          {tag_name_of(image), std::nullopt, Tagged{id, entry.stale, entry.failing, entry.retired, {}}});
    }
    SnapshotSidecar head;
    head.number = 1;
    writer.append(head, changes);
    writer.make_current(1);
    writer.finish();
    transaction.commit();
  }

  std::optional<ImageRecord> best(const ImageQuery& query, const Host& host, const Microarchitectures& cpus) {
    Transaction transaction(state_.database, Database::Access::read);
    auto raw = best_image(state_, query, host, cpus);
    return raw ? std::optional(parsed(*raw).image) : std::nullopt;
  }

  TableImages images() {
    Transaction transaction(state_.database, Database::Access::read);
    return parsed(table_images(state_, std::nullopt).value());
  }

 private:
  IndexState state_;
};

// Profiles by their text, numbered as they come.
class ProfilesByText {
 public:
  std::uint32_t number(const ImageRecord& part) {
    auto [at, is_new] = numbers_.try_emplace(to_json(part).dump(), static_cast<std::uint32_t>(parts_.size()));
    if (is_new) parts_.push_back(part);
    return at->second;
  }
  std::vector<ImageRecord> parts() && { return std::move(parts_); }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<ImageRecord> parts_;
};

// Of worlds that fit no index.
TableImages table_images(const std::vector<IndexEntry>& entries) {
  TableImages table;
  ProfilesByText choices, hosts;
  table.images.reserve(entries.size());
  for (const IndexEntry& entry : entries)
    table.images.push_back({tag_name_of(entry.image), entry.image.name(), entry.image.code,
                            entry.image.manifest, choices.number(choice_profile(entry.image)),
                            hosts.number(host_profile(entry.image)), entry.stale, entry.failing,
                            !entry.retired.empty(), measured_part(entry)});
  table.choices = std::move(choices).parts();
  table.hosts = std::move(hosts).parts();
  return table;
}

// Questions of one host go to one selector, which remembers parts of its answers.
class WorldTable {
 public:
  explicit WorldTable(TableImages images) : table_(std::move(images)) {}

  const SnapshotTable::Image* best(const ImageQuery& query, const Host& host,
                                   const Microarchitectures& cpus) {
    for (auto& [known, selector] : selectors_)
      if (known == host) return selector->best(query);
    selectors_.emplace_back(host, std::make_unique<TableSelector>(table_, host, cpus));
    return selectors_.back().second->best(query);
  }

 private:
  SnapshotTable table_;
  std::vector<std::pair<Host, std::unique_ptr<TableSelector>>> selectors_;
};

Json answer_to(const JsonNode& node, const std::vector<IndexEntry>& entries, WorldTable& table,
               std::optional<WorldIndex>& index, const Microarchitectures& cpus) {
  DslReading reading = read_dsl(JsonDocument::parse(node.at("dsl").value().dump(), "dsl"), kCompilers);
  refuse_lost_choices(reading);
  reading.query.allow_failing = node.at("allow_failing").boolean();
  if (auto stock = node.find("stock"))
    for (const std::string& compiler : stock->strings()) reading.query.stock_compilers.insert(compiler);
  Host host;
  if (JsonNode described = node.at("host"); !described.is_null()) host = {host_from_json(described), true};
  Selection selection = select_image(reading.query, entries, host, cpus);
  Json json = {{"answer", ""}, {"code", ""}, {"digest", ""}, {"error", ""}};
  const SnapshotTable::Image* found = table.best(reading.query, host, cpus);
  if ((found != nullptr) != selection.winner.has_value() ||
      (found != nullptr && (found->tag != tag_name_of(selection.winner->entry->image) ||
                            found->manifest != selection.winner->entry->image.manifest)))
    throw Error(ExitCode::store, "the table answers " + (found != nullptr ? found->tag.second : "nothing"));
  if (index) {
    const auto best = index->best(reading.query, host, cpus);
    if (best.has_value() != selection.winner.has_value() ||
        (best && to_json(*best) != to_json(selection.winner->entry->image)))
      throw Error(ExitCode::store, "the index answers " + (best ? best->name() + best->code : "nothing"));
  }
  if (selection.winner) {
    const ImageRecord& image = selection.winner->entry->image;
    json["answer"] = image.name();
    json["code"] = image.code;
    json["digest"] = image.manifest.text();
  }
  if (auto explain = node.find("explain"); explain && explain->boolean()) {
    json["refused"] = Json::object();
    for (const Candidate& other : selection.others)
      if (!other.failed.empty()) json["refused"][other.entry->image.name()] = other.failed;
  }
  return json;
}

void answer_world(const std::string& line, bool of_index, const Microarchitectures& cpus) {
  JsonDocument world = JsonDocument::parse(line, "world");
  std::vector<IndexEntry> entries;
  for (const JsonNode& image : world.root().at("images").items()) entries.push_back(entry_from_json(image));
  std::optional<WorldIndex> index;
  if (of_index && fits_an_index(entries)) index.emplace(entries);
  WorldTable table(index ? index->images() : table_images(entries));
  for (const JsonNode& one : world.root().at("cases").items()) {
    Json json;
    try {
      json = answer_to(one, entries, table, index, cpus);
    } catch (const Error& error) {
      json = {{"answer", ""}, {"code", ""}, {"digest", ""}, {"error", error.what()}};
    }
    std::cout << json.dump() << '\n';
  }
  std::cout.flush();
}

}  // namespace
}  // namespace kiln

int main() {
  const auto table = kiln::RealFileSystem().read(KILN_ARCHSPEC_JSON);
  if (!table) return 1;
  const auto cpus = kiln::Microarchitectures::parse(*table, KILN_ARCHSPEC_JSON);
  std::ios::sync_with_stdio(false);
  std::size_t world = 0;
  for (std::string line; std::getline(std::cin, line); ++world) {
    try {
      kiln::answer_world(line, world % 3 == 0, cpus);
    } catch (const kiln::Error& error) {
      std::cerr << "the world cannot be read: " << error.what() << '\n';
      return 1;
    }
  }
}
