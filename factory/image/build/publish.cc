#include "image/build/publish.h"

#include "image/state/record_files.h"
#include "image/state/sif_folder.h"
#include "image/state/state_names.h"

namespace kiln {

Published publish_built(const BuildPlan& plan, const ImageNumbers& images, const StatePaths& state,
                        const FileSystem& files, const Clock& clock) {
  StateNames names(state, files);
  RecordReader reader(state, files);
  std::vector<ImageRecord> records;
  std::vector<std::string> failed;
  for (std::uint32_t number : images) {
    const ResolvedImage image = plan.image(number);
    auto record = names.is_built(image) ? reader.image(image.record_name()) : std::nullopt;
    if (record)
      records.push_back(std::move(*record));
    else
      failed.push_back(image.reference());
  }
  if (records.empty())
    throw Error(ExitCode::no_match, "nothing of '" + plan.name() + "' is built", "run `kiln build` first");
  Index index = Index::open(state.root(), Index::Mode::write);
  std::int64_t before = index.current();
  std::int64_t number = index.publish(records, failed, rfc3339(clock.unix_seconds()), plan.name());
  show_sifs(state, index);
  return {number, number != before, records.size(), failed.size()};
}

}  // namespace kiln
