// publish --to: the registry that is asked for, or the site's, and what goes on there in words.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "factory/cli/invocation.h"
#include "factory/distribution/credentials.h"
#include "factory/distribution/http.h"
#include "factory/distribution/registry_address.h"
#include "factory/distribution/registry_client.h"
#include "factory/distribution/signing_key.h"
#include "factory/run/push_images.h"

namespace kiln {

// Where the site file wants images published; nowhere without a word in it. Throws Error(input) for what is
// no registry.
PublishPlace site_place(const Invocation& invocation);
// The same, but what `asked` has (a registry; a key with its passphrase) takes the place of the site's.
PublishPlace publish_place(const PublishPlace& asked, const Invocation& invocation);

// How kiln asks it: with the credentials of the standard files, and the patience of the site file. REQUIRES:
// both outlive the client.
RegistryAccess registry_access(const RegistryAddress& address, Http& http, Invocation& invocation);

// A registry that is being published to: all that RegistryPublisher needs, with its owners.
class PublishTarget {
 public:
  // Throws Error(usage), Error(input), Error(tool_missing). REQUIRES: `place` names a registry, the state's
  // lock is held, and `invocation` outlives this.
  PublishTarget(const PublishPlace& place, Invocation& invocation);

  void push(ImageRecord& image) { publisher_.push(image); }
  // Readable tags of the index's current snapshot, then the site's names; `take`: also those that somebody
  // else has moved. What is left is in the report.
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
  std::vector<SiteAlias> aliases_;
};

}  // namespace kiln
