// Whether a registry still has all of an image that the index answers with: manifests, blobs, the list of its
// documents and its signatures, each by a question of its own. What several images share is asked once.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "factory/distribution/registry_client.h"
#include "factory/distribution/signature.h"
#include "factory/record/image_record.h"
#include "factory/state/pushed.h"

namespace kiln {

// Numbers below kLookParts: a digest is in one part. Manifests are looked for in every part; in these they
// are read, and blobs by their first byte.
using LookParts = std::set<std::size_t>;
LookParts every_part();
// The part that was looked at longest ago, or never; and those that would be older than a week in the next
// night.
LookParts due_parts(const LookTimes& looked, std::int64_t now);
std::size_t part_of(const Digest& digest);
// Of a registry with so many images: all parts where they are few.
LookParts parts_tonight(std::size_t images, const LookTimes& looked, std::int64_t now);

struct LookTerms {
  LookParts parts = every_part();
  bool read = false;                // blobs of these parts to their last byte
  const SigningKey* key = nullptr;  // whose signatures have to be there; null: any, where we have signed
};

// What of an image is not in the registry as it should be.
struct LostPart {
  std::string what;    // "layer 2, sha256:…", "the tag 2.10-…-1a2b3c4d5e6f"
  std::string damage;  // "is missing"
  Digest blob{};       // that has to be sent again; empty: it is a manifest or a tag
};

// An image where it was pushed.
struct ImageInRegistry {
  std::string repository;
  const ImageRecord* image = nullptr;
  PushedRecord pushed{};  // what we know of it there
};

class RegistryLook {
 public:
  // REQUIRES: all outlive this. Several threads may look.
  RegistryLook(RegistryClient& client, const BlobStore& store, const LookTerms& terms)
      : client_(client), store_(store), terms_(terms) {}

  // Throws Error(network), Error(interrupted).
  std::vector<LostPart> look(const ImageInRegistry& image);

 private:
  struct Going;
  template <typename Ask>
  std::string ask_once(const std::string& repository, const std::string& what, const Ask& ask);
  bool is_close(const Digest& digest) const { return terms_.parts.contains(part_of(digest)); }
  void look_at_manifest(Going& going, const std::string& what, const Digest& digest);
  void look_at_blob(Going& going, const std::string& what, const Descriptor& blob);
  void look_at_blobs(Going& going, const std::string& of, const Digest& manifest);
  void look_at_attachment(Going& going, const Attachment& attachment);
  void look_at_tag(Going& going);
  void look_at_list(Going& going);
  void look_at_signature(Going& going);

  RegistryClient& client_;
  const BlobStore& store_;
  const LookTerms& terms_;
  std::mutex mutex_;                         // guards what follows
  std::map<std::string, std::string> said_;  // damage by "repository@sha256:…"
};

}  // namespace kiln
