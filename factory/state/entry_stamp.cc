#include "factory/state/entry_stamp.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "factory/base/json.h"

namespace kiln {

std::string entry_stamp(const std::filesystem::path& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return "gone";
  // The size of a folder says nothing that its time does not.
  return fmt::format("{} {} {}.{:09}", found.st_ino, S_ISDIR(found.st_mode) ? 0 : found.st_size,
                     found.st_mtim.tv_sec, found.st_mtim.tv_nsec);
}

bool KeptStamp::holds(const std::string& now_stamp, std::int64_t now, std::int64_t longest) const {
  return stamp == now_stamp && now >= at && now - at < longest;
}

std::optional<KeptStamp> read_stamp(const std::filesystem::path& file, const FileSystem& files) try {
  const auto text = files.read(file);
  if (!text) return std::nullopt;
  const JsonDocument document = JsonDocument::parse(*text, file);
  return KeptStamp{document.root().at("stamp").line_of_text(),
                   document.root().at("at").integer(0, INT64_MAX)};
} catch (const Error&) {
  return std::nullopt;
}

void keep_stamp(const KeptStamp& kept, const std::filesystem::path& file, FileSystem& files) {
  const Json json = {{"format", 1}, {"stamp", kept.stamp}, {"at", kept.at}};
  files.write(file, json.dump() + "\n");
}

}  // namespace kiln
