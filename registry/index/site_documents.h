// A site's documents about its machines and jobs: infrastructures, enforcement scripts and scaling models, as
// JSON. They belong to snapshots: `snapshots/site.json` of the blob store has the first snapshot of each, and
// `site-copy.json` has the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "factory/base/enum_names.h"

namespace kiln {

class BlobStore;

enum class SiteKind { infrastructure, script, scaling_model };
inline constexpr auto kSiteKinds = enum_names<SiteKind>({{SiteKind::infrastructure, "infrastructure"},
                                                         {SiteKind::script, "script"},
                                                         {SiteKind::scaling_model, "scaling_model"}});

struct SiteDocument {
  SiteKind kind = SiteKind::infrastructure;
  std::string name;      // a later document of a kind replaces an earlier one of the same name
  std::string document;  // JSON, without `id`; equal values are equal text; "" = it removes that of its name
  std::int64_t since = 0;  // the first snapshot that has it; 0 = it is in no index

  // Of kind, name and content, in the form of a UUID (RFC 9562, version 8), which MODAK's clients expect.
  std::string id() const;
};

// All that was imported, oldest first, also what was replaced, and removals. Throws Error(store) if both
// copies are damaged.
std::vector<SiteDocument> all_site_documents(const BlobStore& store);
// REQUIRES: the store is open for writing.
void write_site_documents(const BlobStore& store, const std::vector<SiteDocument>& all);

// Writes a copy that is missing or damaged again from the other. Returns how many it wrote. REQUIRES: as
// write_site_documents().
std::size_t mend_site_documents(const BlobStore& store);

}  // namespace kiln
