// The publication of images of a plan, in the index and in a registry: what `kiln publish` does under its
// lock.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "factory/app/publication.h"
#include "factory/cli/invocation.h"
#include "factory/distribution/http.h"
#include "factory/distribution/registry_client.h"
#include "factory/distribution/signature.h"
#include "factory/plan/cell_patterns.h"
#include "factory/run/publish.h"
#include "factory/run/push_images.h"

namespace kiln {

// How kiln asks it: with the credentials of the standard files, and the patience of the site file. REQUIRES:
// both outlive the client.
RegistryAccess registry_access(const RegistryAddress& address, Http& http, Invocation& invocation);

// A registry that is being published to: all that RegistryPublisher needs, with its owners.
class PublishTarget {
 public:
  // The kind of work: only_look changes neither the registry nor the state folder, and needs no lock.
  enum class Work { publish, only_look };
  // Throws Error(usage), Error(input), Error(tool_missing). REQUIRES: `place` names a registry, the state's
  // lock is held unless `work` is only_look, and `invocation` outlives this.
  PublishTarget(const PublishDestination& place, Invocation& invocation, Work work = Work::publish);

  void push(std::vector<ImageRecord>& images) { publisher_.push(images); }
  // Checks that the registry still has the images of the index: all of them, or tonight's part. Pushes lost
  // parts again, unless the work is only_look; the rest is in the report.
  void keep_tonight(const Index& index);
  void keep_all(const Index& index, bool read);
  // Readable tags of the index's current snapshot, then the site's names; `take`: also tags that another
  // program has moved. The report has the tags that stay unchanged.
  void move_tags(const Index& index, bool take);
  // The same, but no tag is moved: those that are not as they should be are in the report.
  void look_at_tags(const Index& index);

  const PushReport& report() const { return publisher_.report(); }
  std::string text() const;  // "registry.site/ai: 3 images pushed (21 blobs, 812.4 MB), 31 unchanged, …"

 private:
  void keep(const std::vector<IndexEntry>& entries, const LookParts& parts, bool read);

  const Clock& clock_;
  const Work work_;
  std::optional<SigningKey> key_;
  std::unique_ptr<Http> http_;
  RegistryClient client_;
  BlobStore store_;
  PushedNames pushed_;
  RegistryPublisher publisher_;
  std::vector<SiteAlias> aliases_;
};

struct PublishRun {
  PublishDestination place;           // chosen_place(); without a registry the index alone
  bool take_tags = false;             // also those that another writer has moved
  std::vector<std::string> pruned{};  // names to take out, of lacking_images()
  bool keep = false;                  // look also at what lies in the registry already, as a night does
};

struct PublishedImages {
  Published snapshot;
  RegistryNews registry;
};

// Pushes, writes the snapshot and moves tags. Throws as publish_built() and PublishTarget do: then nothing,
// or the snapshot without all of its tags, is published. REQUIRES: the state's lock is held.
PublishedImages publish_images(const BuildPlan& plan, const ChosenCells& chosen, const PublishRun& run,
                               Invocation& invocation);

// The readable tags of the current snapshot and the site's names, after a change that pushed nothing. `keep`:
// as in PublishRun. Throws as PublishTarget does. REQUIRES: the state's lock is held, and `place` names a
// registry.
RegistryNews follow_index(const PublishDestination& place, bool keep, Invocation& invocation);

// A line on stdout for each part of the news. Throws Error with exit_code_of() them.
void tell_registry_news(const RegistryNews& news);

}  // namespace kiln
