// Pushes an image with its documents from the blob store to a registry: blobs first, then manifests, then
// indexes. Sends nothing that is there already, and accepts nothing before it has read it back. No readable
// tag is moved here.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "factory/distribution/registry_client.h"
#include "factory/distribution/signature.h"
#include "factory/oci/layout.h"

namespace kiln {

struct ImageToPush {
  std::string repository;     // as the registry knows it
  Digest manifest;            // in the store
  std::string immutable_tag;  // names this manifest for ever
  std::string created;        // RFC 3339, of the image
  std::vector<Attachment> attachments;
  const SigningKey* key = nullptr;  // signs it; null: none does
  std::string elsewhere{};          // a repository that may have its blobs; "": none is known
};

// The image as it is in the registry now.
struct PushedImage {
  Digest sif;                     // the manifest of the SIF as an artifact; empty: it has none
  std::vector<Digest> referrers;  // manifests whose subject is the image, the SIF's with them
  bool listed_by_tag = false;     // referrers_tag() lists them: the registry has no API for referrers
};

// How much was sent, and how much of it was not needed.
struct PushCount {
  std::uint64_t blobs = 0, bytes = 0;  // sent
  std::uint64_t mounted = 0, there = 0;
};

// Several threads may push, each another image: what two images share is sent once.
class Pusher {
 public:
  // REQUIRES: both outlive this. `warn`: what the registry does not take, once each; may be empty.
  Pusher(RegistryClient& client, const BlobStore& store, std::function<void(const std::string&)> warn = {})
      : client_(client), store_(store), warn_(std::move(warn)) {}

  // The documents of the image are left out if the registry accepts no such manifests. Throws Error(network),
  // Error(store) for a blob that is missing or damaged here, and Error(locked) when the immutable tag is
  // another image's.
  PushedImage push(const ImageToPush& image);
  PushCount count() const;
  // The registry has lost this blob, whatever it says when it is asked: it is sent without being looked for.
  void expect_lost(const Digest& blob);

 private:
  struct Going;                                          // an image on its way
  struct BlobTurn;                                       // one thread at a time has it, for a digest
  std::string place_of(const ImageToPush& image) const;  // for messages
  void push_once(Going& going);
  void push_blob(Going& going, const Descriptor& blob);
  bool is_there(Going& going, const Descriptor& blob);
  bool mount_blob(const ImageToPush& image, const Digest& digest);
  void send_blob(const std::string& repository, const Descriptor& blob);
  void push_text(Going& going, const std::string& bytes);
  void push_referrers(Going& going, const Descriptor& subject);
  Descriptor push_referrer(Going& going, const Attachment& attachment, const Descriptor& subject);
  void keep_immutable_tag(const ImageToPush& image, const std::string& bytes);
  bool list_under_tag(const ImageToPush& image, const std::vector<Descriptor>& referrers);
  void sign(Going& going);
  void read_back(const Going& going);
  bool knows(const std::string& repository, const Digest& digest) const;
  bool is_lost(const Digest& digest) const;
  void know(const std::string& repository, const Digest& digest);
  void warn_once(const std::string& what, const std::string& why);

  RegistryClient& client_;
  const BlobStore& store_;
  std::function<void(const std::string&)> warn_;
  mutable std::mutex mutex_;  // guards what follows
  PushCount count_;
  std::map<std::string, std::set<Digest>> there_;  // blobs by repository that kiln found or put there
  std::map<Digest, std::string> somewhere_;        // a repository that has it
  std::set<Digest> lost_;                          // expect_lost(), and not sent again yet
  std::set<Digest> on_the_way_;                    // a thread looks for it or sends it
  std::set<std::string> warned_;                   // of what
  std::condition_variable arrived_;
};

// The configuration of artifacts, which is the same for all.
inline constexpr std::string_view kEmptyDocument = "{}";

// `sha256-<64 hex>`: the tag under which the referrers of a manifest are listed where a registry has no API
// for them (distribution-spec, "Referrers Tag Schema").
std::string referrers_tag(const Digest& subject);

}  // namespace kiln
