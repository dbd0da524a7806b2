// A place that builders share: records under names, and the blobs that they promise. It is believed nothing:
// who asks it proves what it gives.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "factory/oci/blob_store.h"
#include "factory/share/shared_record.h"

namespace kiln {

// Throws Error(network) where it cannot be reached or asked, Error(store) for what is wrong with what it has
// or with our own disk, Error(input) for what is not in its form, Error(interrupted).
class SharedPlace {
 public:
  virtual ~SharedPlace() = default;
  virtual std::string text() const = 0;  // for people: "registry.site:5000/ai/steps"

  // All that there is.
  virtual std::set<std::string> names() = 0;

  struct Found {
    std::string envelope;
    std::string used{};     // RFC 3339: made, or taken by a builder who may write; "" where nobody says it
    bool is_ours = false;   // nobody but this user can have written it
    std::string why_not{};  // and if not: what says so; "" where that was never promised
  };
  virtual std::optional<Found> find(const SharedName& name) = 0;
  // Into the store, proven by digest and size. False: it is not there.
  virtual bool fetch(const Descriptor& blob, const BlobStore& store) = 0;
  // Blobs first, then what names them, so that a kill leaves nothing that is found. `made`: RFC 3339.
  // `mends`: something of it was found damaged there.
  virtual void put(const SharedName& name, const std::string& envelope, const std::string& made,
                   const std::vector<Descriptor>& blobs, const BlobStore& store, bool mends) = 0;

  // Says that it is used now. It may be gone by then.
  virtual void touch(const SharedName& name, const std::string& now) = 0;
  // When each was used last, by its text(); what is no step or test is left out.
  virtual std::map<std::string, std::string> used() = 0;
  // Takes them away, and what only they need where the place does not see to that itself.
  virtual void remove(const std::set<std::string>& names) = 0;
};

}  // namespace kiln
