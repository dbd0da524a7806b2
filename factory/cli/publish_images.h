// The publication of images of a plan: what `kiln publish` does under its lock.
#pragma once

#include <string>
#include <vector>

#include "factory/cli/invocation.h"
#include "factory/plan/cell_patterns.h"
#include "factory/run/publish.h"

namespace kiln {

struct PublishRun {
  PublishPlace place;                 // publish_place(); without a registry the index alone
  bool take_tags = false;             // also those that somebody else has moved
  std::vector<std::string> pruned{};  // names to take out, of lacking_images()
  bool keep = false;                  // look also at what lies in the registry already, as a night does
};

// What happened in a registry.
struct RegistryNews {
  std::string pushed{};             // in words; "" = nowhere
  std::vector<std::string> left{};  // tags that another program has moved, and what they name
  std::vector<std::string>
      unclear{};  // names of the site's that stand for nothing clear, and why: left as well
  std::vector<std::string> mended{};  // what the registry had lost, and was pushed again
  std::vector<std::string> lost{};    // what it lacks still, and why
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
RegistryNews follow_index(const PublishPlace& place, bool keep, Invocation& invocation);

// Throws Error(network) when something is lost.
void refuse_lost(const std::vector<std::string>& lost);
// Throws Error(locked) when tags were left.
void refuse_left(const std::vector<std::string>& left);
// Throws Error(input) when names of the site's were.
void refuse_unclear(const std::vector<std::string>& unclear);

}  // namespace kiln
