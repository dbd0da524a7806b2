// A world of images (tests/oracle/select/world.py, select_cases.cc) as the index of a state folder, for those
// who are asked from outside: world_index FOLDER <world. Exit code 4: the world fits no index, as names or
// manifests are there twice.
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "factory/base/error.h"
#include "registry/index/index_writer.h"

namespace kiln {
namespace {

struct WorldRow {
  ImageRecord image;
  Tagged tagged;
  std::vector<std::string> speeds;  // measurements and tuned settings
};

WorldRow row_from_json(const JsonNode& node) {
  WorldRow row;
  row.image = image_record_from_json(node.at("image"));
  // What is in a registry is answered without a look into the store, which has nothing here.
  if (!row.image.external()) row.image.published.registry = "registry.example:5000/ai";
  row.tagged = {row.image.identity().hex(),
                node.at("stale").boolean(),
                node.at("failing").boolean(),
                node.at("retired").string(),
                {}};
  for (const JsonNode& measurement : node.at("measurements").items())
    row.speeds.push_back(measurement.value().dump());
  return row;
}

bool fits_an_index(const std::vector<WorldRow>& rows) {
  std::set<std::string> names, identities;
  for (const WorldRow& row : rows) {
    names.insert(row.image.repository + ":" + (row.image.external() ? row.image.code : row.image.tag));
    identities.insert(row.tagged.image);
  }
  return names.size() == rows.size() && identities.size() == rows.size();
}

void write_index(const std::filesystem::path& folder, const std::vector<WorldRow>& rows) {
  std::filesystem::create_directories(folder);
  IndexState state(folder, Database::Access::write);
  make_tables(state.database);
  Transaction transaction(state.database, Database::Access::write);
  IndexWriter writer(state);
  std::vector<TagChange> changes;
  for (const WorldRow& row : rows) {
    writer.put_image(row.image, to_json(row.image).dump());
    std::int64_t number = 0;
    for (const std::string& speed : row.speeds) writer.put_measurement(row.tagged.image, ++number, speed);
    changes.push_back({tag_name_of(row.image), std::nullopt, row.tagged});
  }
  SnapshotSidecar head;
  head.number = 1;
  writer.append(head, changes);
  writer.make_current(1);
  writer.finish();
  transaction.commit();
}

int run(const std::filesystem::path& folder) {
  std::string line;
  std::getline(std::cin, line);
  const JsonDocument world = JsonDocument::parse(line, "world");
  std::vector<WorldRow> rows;
  for (const JsonNode& image : world.root().at("images").items()) rows.push_back(row_from_json(image));
  if (!fits_an_index(rows)) return static_cast<int>(ExitCode::no_match);
  write_index(folder, rows);
  return 0;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    return kiln::run(argv[1]);
  } catch (const kiln::Error& error) {
    std::cerr << error.format() << '\n';
    return static_cast<int>(error.code());
  }
}
