// Reads the data of pages from a state folder: its index, the documents in its store, the plans that its
// builds kept, its nights.
#pragma once

#include "factory/base/effects.h"
#include "factory/pages/page_source.h"
#include "factory/state/state.h"

namespace kiln {

// All that is read at once: the snapshot, or the current one. Throws as Index::entries() does.
PageContent read_page_content(const Index& index, std::optional<std::int64_t> snapshot,
                              const StatePaths& state, FileSystem& files);

// Not for several threads at once: the index is asked, and plans are kept open.
class StatePages : public PageSource {
 public:
  // REQUIRES: all outlive this.
  StatePages(const Index& index, const StatePaths& state, FileSystem& files);
  ~StatePages() override;

  std::optional<PageDocument> document(const ImageRecord& image, const std::string& kind) const override;
  std::optional<DefinitionFiles> definitions(const ImageRecord& image) const override;
  std::vector<TagSpan> history(const std::string& repository, const std::string& tag) const override;
  std::optional<std::string> night(const std::string& matrix, std::int64_t number) const override;

 private:
  struct Plans;
  const Index& index_;
  const StatePaths& state_;
  FileSystem& files_;
  std::unique_ptr<Plans> plans_;  // never null
};

}  // namespace kiln
