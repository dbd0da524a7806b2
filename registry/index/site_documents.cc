#include "registry/index/site_documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "factory/base/digest.h"
#include "factory/base/text.h"
#include "factory/oci/blob_store.h"
#include "registry/index/index.h"
#include "registry/index/index_mended.h"
#include "registry/index/index_reading.h"
#include "registry/index/next_snapshot.h"
#include "registry/index/snapshot_content.h"

namespace kiln {

namespace {

// Nothing else has these documents, so there are two copies. The second is written first: a copy that is
// whole has all of a finished import.
constexpr std::array kCopies = {"site", "site-copy"};

bool same_name(const SiteDocument& one, const SiteDocument& other) {
  return one.kind == other.kind && one.name == other.name;
}

// Whether there is a copy, whole or not.
bool has_copy(const BlobStore& store) {
  const std::vector<std::string> names = store.sidecars(BlobStore::Sidecar::snapshot);
  return std::ranges::any_of(kCopies, [&](const char* copy) { return contains(names, copy); });
}

SiteDocument read_entry(const JsonNode& node) {
  node.allow_only({"kind", "name", "since", "document", "removed"});
  const auto kind = kSiteKinds.find(node.at("kind").string());
  if (!kind) node.at("kind").fail("a kind of document that this kiln does not know", "use a newer kiln");
  const bool removed = node.find("removed").has_value();
  return {*kind, node.at("name").string(), removed ? "" : node.at("document").value().dump(),
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
  std::optional<std::string> text;
  for (const char* copy : kCopies)
    if (!text) text = store.read_sidecar(BlobStore::Sidecar::snapshot, copy);
  std::vector<SiteDocument> all;
  if (!text && has_copy(store))
    throw Error(ExitCode::store, "snapshots/site.json and site-copy.json are damaged",
                "take both away, and import the documents of the site again");
  if (!text) return all;
  try {
    const JsonDocument document = parse_own(*text, "snapshots/site.json");
    for (const JsonNode& node : document.root().at("documents").items()) all.push_back(read_entry(node));
  } catch (const Error& error) {
    throw Error(ExitCode::store, error.where(), error.message(), error.hint());
  }
  return all;
}

// Those of this snapshot, in the order of their import.
static std::vector<SiteDocument> site_documents_of(const std::vector<SiteDocument>& all,
                                                   std::int64_t snapshot) {
  std::vector<SiteDocument> found;
  for (const SiteDocument& document : all) {
    if (document.since > snapshot) continue;
    const auto before =
        std::ranges::find_if(found, [&](const SiteDocument& one) { return same_name(one, document); });
    const bool removes = document.document.empty();
    if (before == found.end() && !removes)
      found.push_back(document);
    else if (before != found.end() && removes)
      found.erase(before);
    else if (before != found.end())
      *before = document;
  }
  return found;
}

void write_site_documents(const BlobStore& store, const std::vector<SiteDocument>& all) {
  Json list = Json::array();
  for (const SiteDocument& one : all) {
    Json entry = {{"kind", kSiteKinds.of(one.kind)}, {"name", one.name}, {"since", one.since}};
    if (one.document.empty())
      entry["removed"] = true;
    else
      entry["document"] = Json::parse(one.document);
    list.push_back(std::move(entry));
  }
  const std::string text = Json{{"documents", std::move(list)}}.dump();
  for (const char* copy : {kCopies[1], kCopies[0]})
    store.write_sidecar(BlobStore::Sidecar::snapshot, copy, text);
}

std::size_t mend_site_documents(const BlobStore& store) {
  const auto one = store.read_sidecar(BlobStore::Sidecar::snapshot, kCopies[0]);
  const auto other = store.read_sidecar(BlobStore::Sidecar::snapshot, kCopies[1]);
  if (one.has_value() == other.has_value()) return 0;
  store.write_sidecar(BlobStore::Sidecar::snapshot, one ? kCopies[1] : kCopies[0], one ? *one : *other);
  return 1;
}

namespace {

// Whether it changes nothing: it is there already, or it removes what is not there.
bool is_known(const std::vector<SiteDocument>& known, const SiteDocument& document) {
  const auto same =
      std::ranges::find_if(known, [&](const SiteDocument& one) { return same_name(one, document); });
  return (same == known.end() ? "" : same->document) == document.document;
}

std::string note_of(const std::vector<SiteDocument>& documents) {
  const bool removes =
      std::ranges::all_of(documents, [](const SiteDocument& one) { return one.document.empty(); });
  return counted(documents.size(), "document") + " of the site" + (removes ? " removed" : "");
}

}  // namespace

std::vector<SiteDocument> Index::site_documents(std::optional<std::int64_t> snapshot) const {
  return mended([&] {
    const std::int64_t number = snapshot ? *snapshot : std::max<std::int64_t>(0, state_->current());
    if (snapshot && !state_->snapshot_row(*snapshot)) no_snapshot(*snapshot, state_->current_row().newest);
    return site_documents_of(all_site_documents(state_->store), number);
  });
}

std::int64_t Index::import_site_documents(std::vector<SiteDocument> documents, const std::string& created) {
  return mended([&] {
    const BlobStore& store = state_->writable_store();
    const std::string folders = folder_marks(store);
    IndexChange step(*state_);
    const CurrentRow& current = step.writer().current();
    std::vector<SiteDocument> all = all_site_documents(store);
    const std::vector<SiteDocument> known = site_documents_of(all, current.snapshot);
    std::erase_if(documents, [&](const SiteDocument& one) { return is_known(known, one); });
    if (documents.empty()) return current.snapshot;
    step.writer().knows_folders(folders);
    for (SiteDocument& one : documents) {
      one.since = current.newest + 1;
      all.push_back(one);
    }
    // First: killed before the snapshot is made, nothing shows it until there is a snapshot of this number.
    write_site_documents(store, all);
    const std::int64_t number = make_snapshot(step.writer(), {}, created, note_of(documents));
    step.commit();
    return number;
  });
}

namespace {

constexpr const char* kModel = "model";
constexpr const char* kNoModel = "null";

}  // namespace

void Index::keep_model(const std::string& json) {
  mended([&] {
    const BlobStore& store = state_->writable_store();
    const std::string folders = folder_marks(store);
    IndexChange step(*state_);
    step.writer().knows_folders(folders);
    store.write_sidecar(BlobStore::Sidecar::snapshot, kModel, json.empty() ? kNoModel : json);
    step.commit();
  });
}

std::optional<std::string> Index::model() const {
  auto text = state_->store.read_sidecar(BlobStore::Sidecar::snapshot, kModel);
  return text == kNoModel ? std::nullopt : text;
}

}  // namespace kiln
