#include "factory/engine/import_layout.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "factory/base/durable_file.h"
#include "factory/base/effects.h"
#include "factory/base/text.h"
#include "factory/oci/blob_store.h"
#include "factory/oci/layer_stream.h"
#include "factory/oci/layout.h"

namespace kiln {
namespace {

void write_plain(const BuiltLayer& layer, const fs::path& blob, const fs::path& file) try {
  const ReadOnlyFile compressed(blob);
  LayerStream stream({&compressed, 0, compressed.size()}, layer.blob, layer.diff_id, {});
  std::ofstream out(file, std::ios::binary);
  for (std::string_view bytes = stream.next(); !bytes.empty(); bytes = stream.next())
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out)
    throw Error(ExitCode::store, fmt::format("cannot write {}: {}", file.string(), std::strerror(errno)));
} catch (const Error& error) {
  throw Error(ExitCode::store, error.message(), kDamageRemedy);
}

}  // namespace

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

DockerArchive::DockerArchive(const StepRecord& step, const std::string& image, const EngineSetup& setup)
    : setup_(setup), folder_(setup.store / ("import-" + unique_name())) {
  try {
    write(step, image);
  } catch (...) {
    setup.files.remove_all(folder_);
    throw;
  }
}

void DockerArchive::write(const StepRecord& step, const std::string& image) const {
  setup_.files.make_directories(folder_);
  const BlobStore blobs(setup_.blob_store);
  Json layers = Json::array();
  for (const BuiltLayer& layer : step.chain.layers) {
    const std::string name = fmt::format("{}.tar", layers.size());
    write_plain(layer, blobs.path(layer.blob.digest), folder_ / name);
    layers.push_back(name);
  }
  setup_.files.write_output(folder_ / "config.json", to_json(import_config(step)).dump());
  setup_.files.write_output(
      folder_ / "manifest.json",
      Json::array({{{"Config", "config.json"}, {"RepoTags", Json::array({image})}, {"Layers", layers}}})
          .dump());
}

DockerArchive::~DockerArchive() {
  std::error_code ignored;  // it is in a cache
  fs::remove_all(folder_, ignored);
}

CommandResult DockerArchive::load() const {
  Command command;
  command.argv = {"/bin/sh", "-c", "tar --create --file - --directory \"$1\" . | docker load --quiet", "sh",
                  folder_.string()};
  command.environment = setup_.environment;
  command.unsynced = true;
  return setup_.runner.run(command);
}

}  // namespace kiln
