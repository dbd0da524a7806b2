// publish --to: images go into a registry before a snapshot of the index names them, and readable tags move
// after it, the site's own names last. The index is the journal of the tags: the next publication completes
// an interrupted one. kiln also checks objects that are already in the registry.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "factory/distribution/image_index.h"
#include "factory/distribution/push.h"
#include "factory/distribution/registry_client.h"
#include "factory/distribution/signature.h"
#include "factory/oci/blob_store.h"
#include "factory/record/image_record.h"
#include "factory/site/site.h"
#include "factory/state/pushed.h"
#include "registry/index/index.h"

namespace kiln {

// Whether a registry still has all of an image that the index answers with: manifests, blobs, the list of its
// documents and its signatures, each by a separate request. Shared parts are requested once.

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
  const SigningKey* key = nullptr;  // whose signatures must exist; null: any, if kiln has signed
};

// A part of an image that is missing or wrong in the registry.
struct LostPart {
  std::string what;    // "layer 2, sha256:…", "the tag 2.10-…-1a2b3c4d5e6f"
  std::string damage;  // "is missing"
  Digest blob{};       // that must be sent again; empty: it is a manifest or a tag
};

// An image where it was pushed.
struct ImageInRegistry {
  std::string repository;
  const ImageRecord* image = nullptr;
  PushedRecord pushed{};  // kiln's record of it there
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

// The images of the site's own names in a snapshot of the index.

// A name, and its images: one a platform.
struct AliasedImages {
  std::string repository, tag;
  std::vector<std::pair<Platform, const ImageRecord*>> images;
};

struct ChosenAliases {
  std::vector<AliasedImages> clear;
  std::vector<std::string> unclear;  // and why: "modak:gpu: hello:2.10-… and hello:2.1-… are both for …"
  std::vector<std::string> empty;    // names for which there is no image
};

// Of the images that lie in this registry and are not retired. Platforms are read from the images'
// configurations: throws Error(store); Error(usage) for an invalid pattern. The images are those of
// `entries`.
ChosenAliases choose_aliases(const std::vector<SiteAlias>& aliases, const std::vector<IndexEntry>& entries,
                             const std::string& registry, const BlobStore& store);

struct PushReport {
  std::size_t pushed = 0;     // images
  std::size_t unchanged = 0;  // that the registry has, by kiln's records and its list of tags
  std::size_t moved = 0;      // readable tags, and the site's names
  // "pytorch:2.6-…: names sha256:… there, and we had moved it to sha256:…": these tags stay unchanged.
  std::vector<std::string> foreign;
  // "modak:gpu: hello:2.10-… and hello:2.1-… are both for linux/amd64": of the site's names, left as well.
  std::vector<std::string> unclear;
  // "registry.site/ai/hello: layer 1, sha256:…, is missing (hello:2.10-… and 3 more)": what the registry
  // has lost and was pushed again, and what it lacks still, with the reason.
  std::vector<std::string> mended, lost;
};

// To a registry, at the same time.
inline constexpr std::size_t kConnections = 8;

struct KeepTerms {
  LookParts parts = every_part();
  bool read = false;  // as LookTerms has it
  bool mend = true;   // push again what is lost
};

// Asks the registry over several connections at the same time.
class RegistryPublisher {
 public:
  // REQUIRES: all outlive this, and the state's lock is held. `key` signs the images; null: none does.
  // `tell`: what is being done, a line each; may be empty. Several threads call it, and `client`.
  RegistryPublisher(RegistryClient& client, const BlobStore& store, PushedNames& pushed,
                    const SigningKey* key, std::function<void(const std::string&)> tell = {});

  // Before the snapshot: what the registry has not is pushed and read back, and the records say where. Throws
  // as Pusher::push does.
  void push(std::vector<ImageRecord>& images);
  // After it: each readable tag of the current snapshot that lies in this registry names its image; those of
  // retired images are left alone. Each is looked at. One that another writer has moved is left, and
  // reported; with `take` it is moved as well. Throws Error(network).
  void move_tags(const std::vector<IndexEntry>& entries, bool take);

  // After that: each of the site's names is an image index over its images, by the same rules. Throws as
  // push().
  void move_aliases(const std::vector<SiteAlias>& aliases, const std::vector<IndexEntry>& entries, bool take);

  // Whether the registry still has the images of the current snapshot and of the site's names, but for
  // retired ones; what it has lost is pushed again. Throws Error(network), Error(interrupted).
  void keep(const std::vector<SiteAlias>& aliases, const std::vector<IndexEntry>& entries,
            const KeepTerms& terms);

  // Reports the work of move_tags() and move_aliases(): a missing tag is lost, one that names another image
  // is foreign. Throws as they do.
  void look_at_tags(const std::vector<SiteAlias>& aliases, const std::vector<IndexEntry>& entries);

  const PushReport& report() const { return report_; }
  PushCount count() const { return pusher_.count(); }

 private:
  // A tag, and what it is to name from now on.
  struct TagMove {
    std::string repository, tag;
    Digest digest;
    std::string_view media_type;
    std::function<std::string()> bytes{};
    std::vector<const ImageRecord*> images{};  // that it names
  };

  // Result of a tag: "": it is as it should be.
  struct MovedTag {
    bool moved = false;
    std::string foreign{}, mended{};
  };
  struct Loss;

  bool is_ours(const IndexEntry& entry) const;  // and this registry has it
  bool has_tag(const std::string& repository, const std::string& tag);
  std::optional<Digest> named_by(const TagMove& move, bool is_known);
  void write_tag(const TagMove& move, const std::optional<Digest>& from);
  MovedTag move_tag(const TagMove& move, bool take);
  void count(const MovedTag& tag);
  std::string index_of(const AliasedImages& alias) const;  // its bytes
  void move_alias(const AliasedImages& alias, bool take);
  std::vector<ImageInRegistry> placed(const ChosenAliases& aliases,
                                      const std::vector<IndexEntry>& entries) const;
  std::vector<Loss> find_losses(const std::vector<ImageInRegistry>& images, const LookTerms& terms);
  std::vector<std::string> push_again(const std::vector<ImageInRegistry>& images,
                                      const std::vector<std::size_t>& numbers);
  void mend(const std::vector<ImageInRegistry>& images, const LookTerms& terms, std::vector<Loss>& losses);
  std::string place_of(const std::string& repository, const Digest& digest) const;
  bool delete_referrer(const std::string& repository, const Digest& referrer);
  void remove_superseded(const std::string& repository, const ImageRecord& image, PushedRecord& record);
  std::optional<PushedRecord> known(const std::string& repository, const ImageRecord& image);
  PushedRecord push_to(const std::string& repository, const ImageRecord& image,
                       const std::string& progress = {});

  RegistryClient& client_;
  const RegistryAddress& address_;
  const BlobStore& store_;
  PushedNames& pushed_;
  const SigningKey* key_;
  Pusher pusher_;
  std::function<void(const std::string&)> tell_;
  std::mutex mutex_;                                   // guards `pushed_`, and what follows
  std::map<std::string, std::set<std::string>> tags_;  // by repository, one question each
  PushReport report_;                                  // of this thread alone
};

}  // namespace kiln
