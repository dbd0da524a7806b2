// The catalogue's pages as `kiln serve` gives them: `kiln index export --html` has the same bytes.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "base/effects.h"
#include "image/state/state.h"
#include "registry/http/message.h"

namespace kiln {

// Reads the index when a page is first asked for, and again when its file has changed. Threads may ask at
// once; one makes its page at a time.
class ServedPages {
 public:
  // REQUIRES: `files` outlives this.
  ServedPages(StatePaths state, FileSystem& files);
  ~ServedPages();

  // nullopt: the request is for no page, or there is no index yet. Throws nothing.
  std::optional<HttpResponse> answer(const HttpRequest& request);

 private:
  struct Held;
  bool refresh();  // false: there is no index

  StatePaths state_;
  FileSystem& files_;
  std::mutex lock_;             // of this:
  std::unique_ptr<Held> held_;  // of the index as it was; null before the first page
};

}  // namespace kiln
