#include "registry/index/site_documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/digest.h"
#include "factory/oci/blob_store.h"
#include "registry/index/snapshot_content.h"

namespace kiln {
namespace {

constexpr const char* kSiteFile = "site";

bool same_name(const SiteDocument& one, const SiteDocument& other) {
  return one.kind == other.kind && one.name == other.name;
}

SiteDocument read_entry(const JsonNode& node) {
  node.allow_only({"kind", "name", "since", "document"});
  const auto kind = kSiteKinds.find(node.at("kind").string());
  if (!kind) node.at("kind").fail("a kind of document that this kiln does not know", "use a newer kiln");
  return {*kind, node.at("name").string(), node.at("document").value().dump(),
          node.at("since").integer(1, INT64_MAX)};
}

}  // namespace

std::string SiteDocument::id() const {
  // The name of a script is its id.
  const std::string named = kind == SiteKind::script ? std::string() : name;
  const std::string hex = Digest::of(fmt::format("{}\n{}\n{}", kSiteKinds.of(kind), named, document)).hex();
  return fmt::format("{}-{}-8{}-a{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(13, 3),
                     hex.substr(17, 3), hex.substr(20, 12));
}

std::vector<SiteDocument> all_site_documents(const BlobStore& store) {
  const auto text = store.read_sidecar(BlobStore::Sidecar::snapshot, kSiteFile);
  std::vector<SiteDocument> all;
  if (!text) return all;
  try {
    const JsonDocument document = parse_own(*text, "snapshots/site.json");
    for (const JsonNode& node : document.root().at("documents").items()) all.push_back(read_entry(node));
  } catch (const Error& error) {
    throw Error(ExitCode::store, error.where(), error.message(), error.hint());
  }
  return all;
}

std::vector<SiteDocument> site_documents_of(const std::vector<SiteDocument>& all, std::int64_t snapshot) {
  std::vector<SiteDocument> found;
  for (const SiteDocument& document : all) {
    if (document.since > snapshot) continue;
    const auto before = std::find_if(found.begin(), found.end(),
                                     [&](const SiteDocument& one) { return same_name(one, document); });
    if (before == found.end())
      found.push_back(document);
    else
      *before = document;
  }
  return found;
}

void write_site_documents(const BlobStore& store, const std::vector<SiteDocument>& all) {
  Json list = Json::array();
  for (const SiteDocument& one : all)
    list.push_back({{"kind", kSiteKinds.of(one.kind)},
                    {"name", one.name},
                    {"since", one.since},
                    {"document", Json::parse(one.document)}});
  store.write_sidecar(BlobStore::Sidecar::snapshot, kSiteFile, Json{{"documents", std::move(list)}}.dump());
}

}  // namespace kiln
