// The catalogue's pages as `kiln serve` gives them: made when they are asked for, of the index as it is.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "factory/base/effects.h"
#include "factory/pages/catalogue_pages.h"
#include "factory/pages/state_pages.h"
#include "factory/state/state.h"
#include "registry/serve/service.h"

namespace kiln {

class ServedPages {
 public:
  // `files` and `clock` outlive it.
  ServedPages(StatePaths state, FileSystem& files, const Clock& clock);
  ~ServedPages();
  // nullopt: there is no such page, or no index. Threads wait for each other. Throws Error(store).
  std::optional<ServedPage> page(const std::string& path);

 private:
  struct Made;  // of one state of the index
  void look();

  const StatePaths state_;
  FileSystem& files_;
  const Clock& clock_;
  std::mutex lock_;
  std::unique_ptr<Made> made_;
};

}  // namespace kiln
