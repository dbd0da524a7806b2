// What `kiln select` answers, for the oracle: worlds of images, hosts and questions on stdin, an answer a
// line.
//
//   {"images": [{"image": {…}, "stale", "failing", "retired", "measurements": [{…}]}],
//    "cases": [{"host": {…} or null, "dsl": {…}, "allow_failing": false}]}
//   → {"answer": "repository:tag, or a mapping's reference", "code", "digest", "error"}; "" is no answer.
// Of a case with "explain": true also "refused": {name: why}.
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/effects.h"
#include "base/error.h"
#include "registry/select.h"

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

Json answer_to(const JsonNode& node, const std::vector<IndexEntry>& entries, const Microarchitectures& cpus) {
  DslReading reading = read_dsl(JsonDocument::parse(node.at("dsl").value().dump(), "dsl"), kCompilers);
  refuse_lost_choices(reading);
  reading.query.allow_failing = node.at("allow_failing").boolean();
  Host host;
  if (JsonNode described = node.at("host"); !described.is_null()) host = {host_from_json(described), true};
  Selection selection = select_image(reading.query, entries, host, cpus);
  Json json = {{"answer", ""}, {"code", ""}, {"digest", ""}, {"error", ""}};
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

void answer_world(const std::string& line, const Microarchitectures& cpus) {
  JsonDocument world = JsonDocument::parse(line, "world");
  std::vector<IndexEntry> entries;
  for (const JsonNode& image : world.root().at("images").items()) entries.push_back(entry_from_json(image));
  for (const JsonNode& one : world.root().at("cases").items()) {
    Json json;
    try {
      json = answer_to(one, entries, cpus);
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
  for (std::string line; std::getline(std::cin, line);) {
    try {
      kiln::answer_world(line, cpus);
    } catch (const kiln::Error& error) {
      std::cerr << "the world cannot be read: " << error.what() << '\n';
      return 1;
    }
  }
}
