// dispatch_names.json as a value: the conventions by which multi-versioned code is recognised.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "factory/base/digest.h"
#include "factory/evidence/feature.h"

namespace kiln::evidence {

struct DispatchNames {
  Digest digest;  // of the table's text
  struct Variant {
    std::string part;
    Tier tier = Tier::baseline;
  };
  struct Folder {
    std::string part;
    Tier tier = Tier::baseline;
  };
  std::vector<Variant> variants;    // highest tier first
  std::vector<Variant> vector_abi;  // as well
  std::vector<std::string> queries;
  std::vector<Folder> folders;

  Tier tier_of(std::string_view symbol) const;      // of `variants`; baseline: the name promises nothing
  Tier tier_of_abi(std::string_view symbol) const;  // of `vector_abi`
  bool is_query(std::string_view symbol) const;
};

// The table compiled in, parsed once.
const DispatchNames& dispatch_names();
DispatchNames read_dispatch_names(std::string_view json);

}  // namespace kiln::evidence
