// publish --to: images go into a registry before a snapshot of the index names them, and readable tags move
// after it. What the index says is the journal of the tags: whoever publishes next completes what a kill
// has left.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "distribution/push.h"
#include "image/state/pushed.h"
#include "registry/index.h"

namespace kiln {

struct PushReport {
  std::size_t pushed = 0;     // images
  std::size_t unchanged = 0;  // that the registry has, by what we know and its list of tags
  std::size_t moved = 0;      // readable tags
  // "pytorch:2.6-…: names sha256:… there, and we had moved it to sha256:…": left as they are.
  std::vector<std::string> foreign;
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

  const PushReport& report() const { return report_; }
  const PushCount& count() const { return pusher_.count(); }

 private:
  bool has_tag(const std::string& repository, const std::string& tag);
  void move_tag(const std::string& repository, const ImageRecord& image, bool take);

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
