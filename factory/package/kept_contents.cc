#include "factory/package/kept_contents.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/checksummed.h"
#include "factory/base/json.h"
#include "factory/oci/blob_damage.h"
#include "factory/os/file_lock.h"

namespace kiln {
namespace {

// Of the JSON below, and of what it says: an older one lacks findings that records have by now.
constexpr int kForm = 4;

Json accepted_json(const std::vector<evidence::Acceptance>& all) {
  Json json = Json::array();
  for (const evidence::Acceptance& one : all)
    json.push_back({one.file, one.reason, one.by, one.layers ? Json(*one.layers) : Json(nullptr)});
  return json;
}

// Everything that examine() looks at.
std::string key_of(const LayerChain& built, const evidence::Declaration& declared,
                   const std::string& version) {
  Json layers = Json::array();
  for (const BuiltLayer& layer : built.layers)
    layers.push_back({layer.blob.digest.text(), layer.diff_id.text()});
  return Digest::of(Json{{"form", kForm},
                         {"facts", evidence::facts_version()},
                         {"version", version},
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

std::optional<Contents> contents_from(const std::string& text, const std::string& file) {
  try {
    const JsonNode root = JsonDocument::parse(text, file).root();
    return Contents{evidence_record_from_json(root.at("evidence")),
                    sbom::inventory_from_json(root.at("inventory")), root.at("table").string(),
                    root.at("excess").string()};
  } catch (const Error&) {
    return std::nullopt;
  }
}

// By their bytes: whoever reads layers anew compares digests, and whoever does not must see damage, too.
bool are_whole(const LayerChain& built, const BlobStore& store) {
  return std::all_of(built.layers.begin(), built.layers.end(), [&](const BuiltLayer& layer) {
    return read_damage(store, layer.blob.digest, layer.blob.size).empty();
  });
}

}  // namespace

std::optional<Contents> KeptContents::find(const std::filesystem::path& file, const BlobStore& store) const {
  auto text = files_.read(file);
  if (text) text = without_checksum(file.filename().string(), std::move(*text));
  auto contents = text ? contents_from(*text, file.string()) : std::nullopt;
  if (!contents || !read_damage(store, contents->evidence.report, {}).empty()) return std::nullopt;
  return contents;
}

Contents KeptContents::once(const LayerChain& built, const evidence::Declaration& declared,
                            const BlobStore& store, const std::function<Contents()>& examine) {
  const std::filesystem::path file = folder_ / ("image-" + key_of(built, declared, version_) + ".json");
  const PassingLock lock(file.string() + ".lock");
  std::optional<Contents> contents = find(file, store);
  if (!contents || !are_whole(built, store)) {
    contents = examine();
    files_.write(file, with_checksum(file.filename().string(), text_of(*contents)));
  }
  return std::move(*contents);
}

}  // namespace kiln
