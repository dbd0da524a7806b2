// The files of jobs that measure on whole nodes, in a folder that all machines of the site see:
//
//   plan.json      the plan of the images that they start
//   files/         of the workload, or of a script
//   <key>.json     what a job is to do
//   <key>.answer   what it measured, once it is done
//   <key>.refusal  or why the machine measured nothing
#pragma once

#include <optional>
#include <string>

#include "factory/base/effects.h"
#include "factory/base/error.h"
#include "factory/base/json.h"
#include "factory/plan/build_plan.h"
#include "factory/recipe/recipe.h"
#include "factory/record/host_description.h"

namespace kiln {

class NodeFiles {
 public:
  // REQUIRES: files outlives this.
  NodeFiles(fs::path folder, FileSystem& files) : folder_(std::move(folder)), files_(files) {}
  const fs::path& folder() const { return folder_; }
  fs::path task(const std::string& key) const { return folder_ / (key + ".json"); }
  fs::path answer(const std::string& key) const { return folder_ / (key + ".answer"); }
  fs::path refusal(const std::string& key) const { return folder_ / (key + ".refusal"); }

  // `plan`: plan_text() with the images. Throws Error(store).
  void write_program(const Recipe& program, const std::string& plan) const;

 protected:
  FileSystem& files() const { return files_; }

 private:
  fs::path folder_;
  FileSystem& files_;
};

// As a compute node reads the folder. Both throw Error(input) at the JSON node that names a missing item.
ImageSpec planned_image(const NodeFiles& folder, const JsonNode& cell, FileSystem& files);
Recipe program_in(const NodeFiles& folder, std::string name, std::string start);

// Why this machine measures nothing. nullopt: it is of the kind that is `wanted`.
std::optional<std::string> refusal_of(const HostDescription& wanted, const HostDescription& here);

// A file that kiln wrote and cannot read is damaged: Error(store) in place of Error(input). `what`: "a
// tuning"; `again`: "tune --again".
template <typename Read>
auto read_node_file(const fs::path& file, const std::string& what, const std::string& again,
                    const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    if (error.code() != ExitCode::input) throw;
    throw Error(ExitCode::store, "a file of " + what + " is damaged: " + error.format(""),
                "remove " + file.string() + " and " + again);
  }
}

}  // namespace kiln
