#include "factory/package/kept_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/json.h"
#include "factory/os/file_lock.h"

namespace kiln {
namespace {

// Increase it when the same bytes give other findings: when the scanner detects more, more of a package
// database is kept, or a form in the folder changes. tests/package/findings_version_test.cc notices.
constexpr int kFindings = 6;

constexpr const char* kTooLarge = "";  // kept in the place of an extract that would be

// Of everything that decides what an extract says. That the blob decompresses to the DiffID was seen when it
// was made, so both are in it, and the media type, by which it is decompressed.
std::string name_of(const evidence::LayerBlob& layer) {
  return "layer-" + Digest::of(fmt::format("{}\n{}\n{}", layer.descriptor.digest.text(), layer.diff_id.text(),
                                           layer.descriptor.media_type))
                        .hex();
}

Json accepted_json(const std::vector<evidence::Acceptance>& all) {
  Json json = Json::array();
  for (const evidence::Acceptance& one : all)
    json.push_back({one.file, one.reason, one.by, one.layers ? Json(*one.layers) : Json(nullptr)});
  return json;
}

// Everything that examine() looks at.
std::string name_of(const LayerChain& built, const evidence::Declaration& declared,
                    const std::string& tools) {
  Json layers = Json::array();
  for (const BuiltLayer& layer : built.layers)
    layers.push_back({layer.blob.digest.text(), layer.diff_id.text()});
  return "image-" + Digest::of(Json{{"tools", tools},
                                    {"layers", layers},
                                    {"target", declared.target},
                                    {"flags", declared.flags},
                                    {"optimised", declared.optimised},
                                    {"promising", declared.layers},
                                    {"library_path", declared.library_path},
                                    {"accept", accepted_json(declared.accept)}}
                                   .dump(-1, ' ', false, Json::error_handler_t::replace))
                        .hex();
}

std::string text_of(const Contents& contents) {
  Json json{{"evidence", to_json(contents.evidence)},
            {"inventory", sbom::to_json(contents.inventory)},
            {"table", contents.table},
            {"excess", contents.excess}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<Contents> contents_from(const std::string& text) {
  try {
    const JsonNode root = JsonDocument::parse(text, "kept findings").root();
    return Contents{evidence_record_from_json(root.at("evidence")),
                    sbom::inventory_from_json(root.at("inventory")), root.at("table").string(),
                    root.at("excess").string()};
  } catch (const Error&) {
    return std::nullopt;
  }
}

// By their bytes: whoever reads layers anew compares digests, and whoever does not must see damage, too.
bool are_whole(const LayerChain& built, const BlobStore& store) {
  return std::ranges::all_of(built.layers, [&](const BuiltLayer& layer) {
    return read_damage(store, layer.blob.digest, layer.blob.size).empty();
  });
}

}  // namespace

const std::string& findings_version() {
  static const std::string kVersion =
      fmt::format("{} {} {}", kFindings, evidence::dispatch_table(), sbom::database_table());
  return kVersion;
}

std::unique_ptr<LayerEntries> KeptLayers::open(const evidence::LayerBlob& layer) {
  const std::string name = name_of(layer);
  std::optional<std::string> extract = folder_.find(name);
  if (!extract) {
    const PassingLock lock(folder_.path(name + ".lock"));
    extract = folder_.find(name);
    if (!extract) {
      extract = make(layer);
      if (!extract) return nullptr;
      folder_.keep(name, *extract);
      if (*extract != kTooLarge) whole_.insert(layer.descriptor.digest.hex());  // it was read to its end
    }
  }
  if (*extract == kTooLarge || !is_whole(layer)) return nullptr;
  return read_extract(*extract);
}

std::optional<std::string> KeptLayers::make(const evidence::LayerBlob& layer) const {
  try {
    const ReadOnlyFile file(layer.file);
    LayerStream stream({&file, 0, file.size()}, layer.descriptor, layer.diff_id, {});
    LayerReader reader(stream, {}, {});
    evidence::FileExaminer code(jobs_, cache_);
    sbom::DatabaseExtractor packages;
    BothExtractors both(code, packages);
    return extract_of(reader, both, most_).value_or(kTooLarge);
  } catch (const Error& error) {
    if (error.code() == ExitCode::interrupted) throw;
    return std::nullopt;
  }
}

// Whoever reads the layer itself compares its digest, and whoever does not must see damage, too.
bool KeptLayers::is_whole(const evidence::LayerBlob& layer) {
  const std::string digest = layer.descriptor.digest.hex();
  if (whole_.contains(digest)) return true;
  if (!has_bytes_of(layer.file, layer.descriptor.digest)) return false;
  whole_.insert(digest);
  return true;
}

std::optional<Contents> KeptContents::find(const std::string& name, const BlobStore& store) const {
  const auto text = folder_.find(name);
  auto contents = text ? contents_from(*text) : std::nullopt;
  if (!contents || !read_damage(store, contents->evidence.report, {}).empty()) return std::nullopt;
  return contents;
}

Contents KeptContents::once(const LayerChain& built, const evidence::Declaration& declared,
                            const BlobStore& store, const std::function<Contents()>& examine) {
  const std::string name = name_of(built, declared, tools_);
  const PassingLock lock(folder_.path(name + ".lock"));
  std::optional<Contents> contents = find(name, store);
  if (!contents || !are_whole(built, store)) {
    contents = examine();
    folder_.keep(name, text_of(*contents));
  }
  return std::move(*contents);
}

}  // namespace kiln
