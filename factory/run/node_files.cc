#include "factory/run/node_files.h"

#include <fmt/format.h>

#include "factory/base/effects.h"
#include "factory/state/plan_file.h"

namespace kiln {

void NodeFiles::write_program(const Recipe& program, const std::string& plan) const {
  for (const auto& [path, file] : program.files) files_.write_output(folder_ / "files" / path, file.bytes);
  files_.write(folder_ / "plan.json", plan);
}

ImageSpec planned_image(const NodeFiles& folder, const JsonNode& cell, FileSystem& files) {
  const auto plan = PlanFile::open(files, folder.folder() / "plan.json");
  auto image = plan ? plan->image(cell.string()) : std::nullopt;
  if (!image) cell.fail("plan.json has no such cell");
  return *std::move(image);
}

Recipe program_in(const NodeFiles& folder, std::string name, std::string start) {
  Recipe program;
  program.kind = Kind::workload;
  program.name = std::move(name);
  program.folder = folder.folder() / "files";
  Method method;
  method.script = std::move(start);
  program.methods = {std::move(method)};
  return program;
}

std::optional<std::string> refusal_of(const HostDescription& wanted, const HostDescription& here) {
  if (is_same_machine(here, wanted)) return std::nullopt;
  return fmt::format(
      "{} is another kind of machine ({}, {} cores) than the one that is measured ({}, {} cores)",
      host_name(), here.model, here.cores, wanted.model, wanted.cores);
}

}  // namespace kiln
