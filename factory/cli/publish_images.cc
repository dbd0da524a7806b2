#include "factory/cli/publish_images.h"

#include <fmt/format.h>

#include <optional>

#include "factory/base/text.h"
#include "factory/cli/publish_to.h"

namespace kiln {

PublishedImages publish_images(const BuildPlan& plan, const ChosenCells& chosen, const PublishRun& run,
                               Invocation& invocation) {
  PublishOptions options{chosen.broken, run.pruned};
  std::optional<PublishTarget> target;
  if (!run.place.registry.empty()) {
    target.emplace(run.place, invocation);
    options.place = [&target](ImageRecord& image) { target->push(image); };
  }
  PublishedImages done;
  done.snapshot =
      publish_built(plan, chosen.images, invocation.state(), invocation.files, invocation.clock, options);
  if (!target) return done;
  try {
    target->move_tags(invocation.index(Index::Mode::read), run.take_tags);
  } catch (Error& error) {
    error.while_doing(
        fmt::format("moving the readable tags to snapshot {}, which is written: the next "
                    "`kiln publish` completes them",
                    done.snapshot.snapshot));
    throw;
  }
  done.pushed = target->text();
  done.left = target->report().foreign;
  done.unclear = target->report().unclear;
  return done;
}

void refuse_left(const std::vector<std::string>& left) {
  if (left.empty()) return;
  throw Error(
      ExitCode::locked,
      fmt::format("{} moved by somebody else, and left as {}", left.size() == 1 ? "a tag was" : "tags were",
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
