// publish --to: the registry that is asked for, or the site's, and what goes on there in words.
#pragma once

#include <memory>
#include <string>

#include "cli/invocation.h"
#include "distribution/credentials.h"
#include "distribution/http.h"
#include "distribution/registry_address.h"
#include "distribution/registry_client.h"
#include "distribution/signing_key.h"
#include "image/build/push_images.h"

namespace kiln {

// A registry that is being published to: all that RegistryPublisher needs, with its owners.
class PublishTarget {
 public:
  // `to`: as --to has it; `key`: a file with the key that signs the images, "" for none, and the file of its
  // passphrase. Throws Error(usage), Error(input), Error(tool_missing). REQUIRES: the state's lock is held,
  // and `invocation` outlives this.
  PublishTarget(const std::string& to, const std::string& key, const std::string& passphrase_file,
                Invocation& invocation);

  void push(ImageRecord& image) { publisher_.push(image); }
  // Readable tags of the index's current snapshot; `take`: also those that somebody else has moved. The
  // others are in the report.
  void move_tags(const Index& index, bool take);

  const PushReport& report() const { return publisher_.report(); }
  std::string text() const;  // "registry.site/ai: 3 images pushed (21 blobs, 812.4 MB), 31 unchanged, …"

 private:
  std::optional<SigningKey> key_;
  std::unique_ptr<Http> http_;
  RegistryClient client_;
  BlobStore store_;
  PushedNames pushed_;
  RegistryPublisher publisher_;
};

}  // namespace kiln
