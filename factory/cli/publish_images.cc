#include "factory/cli/publish_images.h"

#include <fmt/format.h>

#include <optional>

#include "factory/base/text.h"
#include "factory/cli/publish_to.h"

namespace kiln {
namespace {

RegistryNews follow(PublishTarget& target, bool keep, bool take_tags, const Index& index) {
  if (keep) target.keep_tonight(index);
  target.move_tags(index, take_tags);
  const PushReport& report = target.report();
  return {target.text(), report.foreign, report.unclear, report.mended, report.lost};
}

}  // namespace

PublishedImages publish_images(const BuildPlan& plan, const ChosenCells& chosen, const PublishRun& run,
                               Invocation& invocation) {
  PublishOptions options{chosen.broken, run.pruned};
  std::optional<PublishTarget> target;
  if (!run.place.registry.empty()) {
    target.emplace(run.place, invocation);
    options.place = [&target](std::vector<ImageRecord>& images) { target->push(images); };
  }
  PublishedImages done;
  done.snapshot =
      publish_built(plan, chosen.images, invocation.state(), invocation.files, invocation.clock, options);
  if (!target) return done;
  try {
    done.registry = follow(*target, run.keep, run.take_tags, invocation.index(Index::Mode::read));
  } catch (Error& error) {
    error.while_doing(
        fmt::format("moving the readable tags to snapshot {}, which is written: the next "
                    "`kiln publish` completes them",
                    done.snapshot.snapshot));
    throw;
  }
  return done;
}

RegistryNews follow_index(const PublishPlace& place, bool keep, Invocation& invocation) {
  PublishTarget target(place, invocation);
  return follow(target, keep, false, invocation.index(Index::Mode::read));
}

void refuse_lost(const std::vector<std::string>& lost) {
  if (lost.empty()) return;
  throw Error(ExitCode::network,
              fmt::format("the registry lacks {} that the index answers with", counted(lost.size(), "part")),
              "`kiln build` makes again what the store lacks as well; `kiln index fsck --registry --repair` "
              "pushes it");
}

void refuse_left(const std::vector<std::string>& left) {
  if (left.empty()) return;
  throw Error(
      ExitCode::locked,
      fmt::format("{} moved by another program, and left as {}", left.size() == 1 ? "a tag was" : "tags were",
                  left.size() == 1 ? "it is" : "they are"),
      "--take-tags moves them to the images of the index");
}

void refuse_unclear(const std::vector<std::string>& unclear) {
  if (unclear.empty()) return;
  throw Error(ExitCode::input,
              fmt::format("{} of the site file {} not clear, and left as {}",
                          counted(unclear.size(), "alias", "aliases"), unclear.size() == 1 ? "is" : "are",
                          unclear.size() == 1 ? "it is" : "they are"),
              "patterns that choose one image a platform, and names that no image has");
}

}  // namespace kiln
