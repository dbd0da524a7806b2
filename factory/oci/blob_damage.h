// What is wrong with a blob, in words that follow its digest: "is missing", "has 12 of 345 bytes", "does not
// have the bytes that were written". "" is said of one that is whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "factory/base/digest.h"
#include "factory/oci/blob_store.h"

namespace kiln {

// As far as is to be seen without reading it.
std::string seen_damage(const BlobStore& store, const Digest& digest, std::uint64_t size);

// Its bytes against its digest, all of them. `size`: that was written; nothing if it is not known. `read`
// gets the count of each few bytes read; may be empty. Throws Error(store) when the file cannot be read,
// which says nothing of its bytes, and Error(interrupted).
std::string read_damage(const BlobStore& store, const Digest& digest, std::optional<std::uint64_t> size,
                        const std::function<void(std::uint64_t bytes)>& read = {});

// Whether a file has these bytes; false when it cannot be read. Throws Error(interrupted).
bool has_bytes_of(const std::filesystem::path& file, const Digest& digest);

}  // namespace kiln
