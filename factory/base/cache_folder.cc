#include "factory/base/cache_folder.h"

#include "factory/base/digest.h"

namespace kiln {

std::string CacheFolder::proof_of(std::string_view name, std::string_view bytes) const {
  Hasher hasher;
  for (const std::string_view part :
       {std::string_view(version_), std::string_view("\n"), name, std::string_view("\n"), bytes})
    hasher.update(part);
  return hasher.finish().hex() + "\n";
}

std::optional<std::string> CacheFolder::find(const std::string& name) const try {
  std::optional<std::string> text = files_.read(path(name));
  const std::size_t end = text ? text->find('\n') : std::string::npos;
  if (end == std::string::npos) return std::nullopt;
  const std::string proof = text->substr(0, end + 1);
  text->erase(0, end + 1);
  if (proof != proof_of(name, *text)) text.reset();
  return text;
} catch (const Error& error) {
  if (error.code() == ExitCode::interrupted) throw;
  return std::nullopt;
}

void CacheFolder::keep(const std::string& name, std::string_view bytes) {
  files_.write(path(name), proof_of(name, bytes).append(bytes));
}

}  // namespace kiln
