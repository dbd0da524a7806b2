// The blob store: content-addressed files, and the only way to publish bytes.
//
//   <root>/tmp/<host>-<pid>-<start>-<n>.part   being written, hashed on the way
//   <root>/sha256/<aa>/<64 hex>                a blob: fsynced, then renamed here, then both folders fsynced
// Sidecars, from which the index can be made again, written the same way. Each proves itself:
// {"checksum":"<64 hex>","content":<document>}, the SHA-256 of `<folder>/<name>`, a line feed and the
// document's bytes.
//   <root>/records/<64 hex>.json               an image, named by its manifest digest (ImageRecord::identity)
//   <root>/measurements/<64 hex>-<n>.json      the n-th measurement of an image
//   <root>/snapshots/<n>.json                  which tag was which image; snapshots/current.json: which one
//   counts
//
// A file under sha256/ is whole and true to its name, whatever was killed when.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/digest.h"
#include "factory/oci/documents.h"

namespace kiln {

// Advice about a blob that differs from the written bytes.
inline constexpr const char* kDamageRemedy =
    "`kiln index fsck --repair` mends what it can, the next `kiln build` makes the rest again";

class BlobStore {
 public:
  // Creates the folders. Throws Error(store).
  explicit BlobStore(std::filesystem::path root);
  // For callers that only read, also without a store: makes nothing. REQUIRES: nothing is written to it.
  static BlobStore reading(std::filesystem::path root);

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path path(const Digest& digest) const;
  bool has(const Digest& digest) const { return size_of(digest).has_value(); }
  // Bytes of its file, which is only looked at; nullopt where there is no such regular file.
  std::optional<std::uint64_t> size_of(const Digest& digest) const;
  // The bytes, verified against the digest; Error(store) when absent, damaged or larger than `limit`.
  std::string read(const Digest& digest, std::uint64_t limit = 16u << 20) const;

  // Streams one blob in. The file is dropped unless `commit` returns.
  class Writer {
   public:
    ~Writer();
    Writer(Writer&&) noexcept;
    void write(const void* bytes, std::size_t size);
    // Checks `expected` when not empty (Error(store) on mismatch), fsyncs, renames, fsyncs the folders.
    Descriptor commit(std::string media_type, const Digest& expected = {});

   private:
    friend class BlobStore;
    struct State;
    explicit Writer(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
  };
  Writer writer() const;
  Descriptor put(std::string_view bytes, std::string media_type) const;
  // Copies a file in; hashes and verifies on the way.
  Descriptor put_file(const std::filesystem::path& file, std::string media_type,
                      const Digest& expected = {}) const;

  std::vector<Digest> blobs() const;  // all that lie there under a digest's name, sorted
  // Takes a damaged blob away: what is made again is made whole. An absent one is fine.
  void remove(const Digest& digest) const;

  enum class Sidecar { record, measurement, snapshot };
  void write_sidecar(Sidecar kind, const std::string& name, std::string_view json) const;
  // The document; nullopt when it is absent, or is not what was written under this name.
  std::optional<std::string> read_sidecar(Sidecar kind, const std::string& name) const;
  std::vector<std::string> sidecars(Sidecar kind) const;  // names without ".json", sorted

  void write_record(const Digest& manifest, std::string_view json) const;
  std::optional<std::string> read_record(const Digest& manifest) const;
  std::vector<Digest> records() const;  // sorted

  // Removes temporaries whose process has ended. Safe while writers run; safe to repeat. Returns how many.
  std::size_t drop_dead_temporaries() const;

 private:
  struct AsItIs {};
  BlobStore(std::filesystem::path root, AsItIs) : root_(std::move(root)) {}
  std::filesystem::path sidecar_path(Sidecar kind, const std::string& name) const;
  std::filesystem::path root_;
};

// The damage of a blob, in words that follow its digest: "is missing", "has 12 of 345 bytes", "does not have
// the bytes that were written". "" for a complete blob.

// Only checks that need no read.
std::string seen_damage(const BlobStore& store, const Digest& digest, std::uint64_t size);

// Its bytes against its digest, all of them. `size`: that was written; nothing if it is not known. `read`
// gets the count of each few bytes read; may be empty. Throws Error(store) when the file cannot be read,
// which says nothing of its bytes, and Error(interrupted).
std::string read_damage(const BlobStore& store, const Digest& digest, std::optional<std::uint64_t> size,
                        const std::function<void(std::uint64_t bytes)>& read = {});

// Whether a file has these bytes; false when it cannot be read. Throws Error(interrupted).
bool has_bytes_of(const std::filesystem::path& file, const Digest& digest);

}  // namespace kiln
