#include "factory/app/user_namespaces.h"

namespace kiln {

RootWay root_way(bool is_root, const Site& site) {
  if (is_root) return RootWay::has_it;
  return site.engine == "apptainer" ? RootWay::own_namespace : RootWay::engine_namespace;
}

bool steps_need_root(const Site& site) { return !site.launcher.slurm; }

bool needs_engine_here(const Site& site) { return !site.launcher.is_used(); }

std::vector<std::string> words_again(std::string_view cmdline, const std::string& program) {
  std::vector<std::string> words = {program};
  for (std::size_t start = cmdline.find('\0') + 1, end;
       (end = cmdline.find('\0', start)) != std::string_view::npos; start = end + 1)
    words.emplace_back(cmdline.substr(start, end - start));
  return words;
}

}  // namespace kiln
