#include "factory/engine/import_layout.h"

#include <fmt/format.h>

#include "factory/base/file_mask.h"
#include "factory/base/text.h"
#include "factory/base/unique_name.h"
#include "factory/oci/layout.h"

namespace kiln {

ImageConfig import_config(const StepRecord& step) {
  ImageConfig config = step.chain.base.value_or(ImageConfig{});
  config.history.clear();  // the base's does not speak of our layers; engines want one entry a layer
  config.diff_ids.clear();
  for (const BuiltLayer& layer : step.chain.layers) {
    config.diff_ids.push_back(layer.diff_id);
    config.history.push_back({"", layer.created_by, false});
  }
  return config;
}

ImportLayout::ImportLayout(const StepRecord& step, const EngineSetup& setup)
    : setup_(setup), folder_(setup.store / ("import-" + unique_name())), tag_(step.key) {
  LayoutImage layout;
  layout.config = import_config(step);
  for (const BuiltLayer& layer : step.chain.layers) layout.layers.push_back(layer.blob);
  layout.tag = tag_;
  try {
    write_layout(folder_, layout, BlobStore(setup.blob_store), setup.files);
  } catch (...) {
    setup.files.remove_all(folder_);
    throw;
  }
}

ImportLayout::~ImportLayout() {
  std::error_code ignored;  // it is in a cache
  fs::remove_all(folder_, ignored);
}

CommandResult ImportLayout::copy_to(const std::string& destination) const {
  Command command;
  command.argv = {"skopeo", "copy", "--quiet", fmt::format("oci:{}:{}", folder_.string(), tag_), destination};
  command.environment = setup_.environment;
  command.file_mask = kImageMask;
  command.unsynced = true;
  return setup_.runner.run(command);
}

void ImportLayout::check(const CommandResult& copy, const std::string& image, const std::string& engine) {
  if (copy.end == CommandEnd::interrupted) throw Error(ExitCode::interrupted, "interrupted");
  if (!copy.ok())
    throw Error(ExitCode::store,
                fmt::format("cannot give {} to {}: {}", image, engine, last_lines(copy.tail, 1)));
}

}  // namespace kiln
