// The bits that were withdrawn, whatever the current snapshot holds: `snapshots/retired.json` of the blob
// store. A snapshot from before the retirement does not know it, nor does one without those bits.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "registry/index/index_state.h"

namespace kiln {

// ImageRecord::bits, and the reason.
using Retirements = std::map<std::string, std::string>;

// What the file says; without a readable one, what the newest snapshot that has the bits says of them. Reads
// the sidecar and, without it, all that tags were.
Retirements all_retirements(IndexState& state);

// Why bits are retired, for what is about to be published.
class RetiredReasons {
 public:
  explicit RetiredReasons(IndexState& state);
  // "" when they are not. Without a file, by the tags of the current snapshot: no publication reads all of
  // them.
  std::string of(const std::string& bits) const;

 private:
  IndexState& state_;
  std::optional<Retirements> written_;
};

// REQUIRES: the index is open for writing.
void write_retirements(IndexState& state, const Retirements& retirements);

}  // namespace kiln
