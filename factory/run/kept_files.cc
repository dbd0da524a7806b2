#include "factory/run/kept_files.h"

#include <nlohmann/json.hpp>

#include "factory/base/json.h"
#include "factory/base/reading.h"
#include "factory/run/kept_tables.h"
#include "factory/state/plan_file.h"

namespace kiln {

TunedRecord read_tuned(const fs::path& file, const FileSystem& files) {
  try {
    return tuned_record_from_json(read_document(files, file).root());
  } catch (const Error& error) {
    throw Error(ExitCode::store, "a result is damaged: " + error.format(""), "remove the file");
  }
}

std::vector<Error> kept_damage(const StatePaths& state, FileSystem& files) {
  std::vector<Error> found;
  auto look = [&](const auto& read) {
    try {
      read();
    } catch (const Error& error) {
      if (error.code() == ExitCode::interrupted) throw;
      found.push_back(error);
    }
  };
  for (const std::string& name : files.stems(state.plan("x").parent_path()))
    look([&] {
      if (const auto plan = PlanFile::open(files, state.plan(name))) plan->prove();
    });
  for (const std::string& sum : files.stems(state.tuned_folder()))
    look([&] { (void)read_tuned(state.tuned(sum), files); });
  look([&] { (void)KeptTables(state, files).all(); });
  return found;
}

}  // namespace kiln
