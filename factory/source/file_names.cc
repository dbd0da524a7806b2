#include "factory/source/file_names.h"

#include <system_error>

#include "factory/base/text.h"
#include "factory/source/source_text.h"

namespace kiln {
namespace {

// Something in front of `ending`.
bool ends_with(std::string_view name, std::string_view ending) {
  return name.size() > ending.size() && name.ends_with(ending);
}

}  // namespace

bool begins_with(std::string_view name, std::string_view word) {
  if (!name.starts_with(word)) return false;
  return name.size() == word.size() ||
         std::string_view(".-_").find(name[word.size()]) != std::string_view::npos;
}

bool is_dockerfile_name(std::string_view name) {
  const std::string lower = lower_case(name);
  return begins_with(lower, "dockerfile") || begins_with(lower, "containerfile") ||
         ends_with(lower, ".dockerfile") || ends_with(lower, ".containerfile");
}

bool is_definition_name(std::string_view name) {
  const std::string lower = lower_case(name);
  return begins_with(lower, "singularity") || begins_with(lower, "apptainer") || ends_with(lower, ".def");
}

bool is_link(const std::filesystem::path& path) {
  std::error_code none;
  return std::filesystem::is_symlink(std::filesystem::symlink_status(path, none));
}

}  // namespace kiln
