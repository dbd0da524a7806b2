#include "factory/run/kept_files.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "factory/base/digest.h"
#include "factory/base/json.h"
#include "factory/base/reading.h"
#include "factory/state/plan_file.h"

namespace kiln {
namespace {

constexpr const char* kImportAgain = "remove the file and import the table again";

fs::path file_of(const StatePaths& state, const std::string& series) {
  return state.bench_table(Digest::of(series).hex());
}

// The content has a sum: another digit in a table is a table as well.
std::string with_sum(const Json& content) {
  const std::string text = content.dump();
  return Json{{"content", text}, {"sum", Digest::of(text).hex()}}.dump() + "\n";
}

// The table is text in text: each '\\' of it is written as four, and half of them are in the outer string.
constexpr JsonLimits kLimits{.bytes = 16u << 20, .string_bytes = 8u << 20};

ExternalTable table_of(const std::string& text, const std::string& file) {
  const JsonDocument document = JsonDocument::parse(text, file, kLimits);
  const JsonNode root = document.root();
  root.allow_only({"content", "sum"});
  const std::string content = root.at("content").string();
  if (Digest::of(content).hex() != root.at("sum").string()) root.fail("the content was changed");
  return external_table_from_json(JsonDocument::parse(content, file, kLimits).root());
}

// The files as they were before they were written.
class EarlierFiles {
 public:
  explicit EarlierFiles(FileSystem& files) : files_(files) {}

  // True: there is such a file.
  bool remember(const fs::path& file) {
    earlier_.emplace_back(file, files_.read(file));
    return earlier_.back().second.has_value();
  }

  // A full disk may refuse an earlier table as well: that file then has the new one, whole.
  void restore() {
    for (const auto& [file, text] : earlier_) {
      try {
        if (text)
          files_.write(file, *text);
        else
          files_.remove_all(file);
      } catch (const Error&) {
        continue;
      }
    }
  }

 private:
  FileSystem& files_;
  std::vector<std::pair<fs::path, std::optional<std::string>>> earlier_;
};

}  // namespace

std::vector<std::string> KeptTables::put(std::span<const ExternalTable> tables) {
  std::vector<std::string> replaced;
  EarlierFiles earlier(files_);
  try {
    for (const ExternalTable& table : tables) {
      const std::string series = table.facts.series();
      const fs::path file = file_of(state_, series);
      if (earlier.remember(file)) replaced.push_back(series);
      files_.write(file, with_sum(to_json(table)));
    }
  } catch (const Error&) {
    earlier.restore();
    throw;
  }
  return replaced;
}

bool KeptTables::remove(const std::string& series) {
  const fs::path file = file_of(state_, series);
  if (!files_.exists(file)) return false;
  files_.remove_all(file);
  return true;
}

std::vector<ExternalTable> KeptTables::all() const {
  std::vector<ExternalTable> tables;
  for (const std::string& sum : files_.stems(state_.bench_tables())) {
    const fs::path file = state_.bench_tables() / (sum + ".json");
    const auto text = files_.read(file);
    if (!text) continue;
    try {
      tables.push_back(table_of(*text, file.string()));
      if (file_of(state_, tables.back().facts.series()) != file)
        throw Error(ExitCode::store, {file.string(), 0, 0, ""}, "its name is not that of its series");
    } catch (const Error& error) {
      throw Error(ExitCode::store, error.where(), "a kept table is not what was written: " + error.message(),
                  kImportAgain);
    }
  }
  std::ranges::sort(tables, {}, [](const ExternalTable& table) { return table.facts.series(); });
  return tables;
}

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
