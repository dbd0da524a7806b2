// publish --to: images go into a registry before a snapshot of the index names them, and readable tags move
// after it, the site's own names last. What the index says is the journal of the tags: whoever publishes next
// completes what a kill has left.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "factory/distribution/push.h"
#include "factory/run/site_aliases.h"
#include "factory/state/pushed.h"
#include "registry/index/index.h"

namespace kiln {

struct PushReport {
  std::size_t pushed = 0;     // images
  std::size_t unchanged = 0;  // that the registry has, by what we know and its list of tags
  std::size_t moved = 0;      // readable tags, and the site's names
  // "pytorch:2.6-…: names sha256:… there, and we had moved it to sha256:…": left as they are.
  std::vector<std::string> foreign;
  // "modak:gpu: hello:2.10-… and hello:2.1-… are both for linux/amd64": of the site's names, left as well.
  std::vector<std::string> unclear;
};

class RegistryPublisher {
 public:
  // REQUIRES: all outlive this, and the state's lock is held. `key` signs the images; null: nobody does.
  // `tell`: what is being done, a line each; may be empty.
  RegistryPublisher(RegistryClient& client, const BlobStore& store, PushedNames& pushed,
                    const SigningKey* key, std::function<void(const std::string&)> tell = {});

  // Before the snapshot: what the registry has not is pushed and read back, and the record says where. Throws
  // as Pusher::push does.
  void push(ImageRecord& image);
  // After it: each readable tag of the current snapshot that lies in this registry names its image. One that
  // somebody else has moved is left, and reported; with `take` it is moved as well. Throws Error(network).
  void move_tags(const std::vector<IndexEntry>& entries, bool take);

  // After that: each of the site's names is an image index over the images that it stands for, by the same
  // rules. Throws as push().
  void move_aliases(const std::vector<SiteAlias>& aliases, const std::vector<IndexEntry>& entries, bool take);

  const PushReport& report() const { return report_; }
  const PushCount& count() const { return pusher_.count(); }

 private:
  // A tag, and what it is to name from now on.
  struct TagMove {
    std::string repository, tag;
    Digest digest;
    std::string_view media_type;
    std::function<std::string()> bytes;
    std::vector<const ImageRecord*> images;  // that it names
  };

  bool has_tag(const std::string& repository, const std::string& tag);
  bool is_moved(const TagMove& move);  // by what we know and the registry's list
  void move_tag(const TagMove& move, bool take);
  void write_tag(const TagMove& move, const std::optional<Digest>& from);
  void move_alias(const AliasedImages& alias, bool take);
  std::string place_of(const std::string& repository, const Digest& digest) const;
  std::optional<PushedRecord> known(const std::string& repository, const ImageRecord& image);
  PushedRecord push_to(const std::string& repository, const ImageRecord& image);

  RegistryClient& client_;
  const RegistryAddress& address_;
  const BlobStore& store_;
  PushedNames& pushed_;
  const SigningKey* key_;
  Pusher pusher_;
  std::function<void(const std::string&)> tell_;
  std::map<std::string, std::set<std::string>> tags_;  // by repository, one question each
  PushReport report_;
};

}  // namespace kiln
