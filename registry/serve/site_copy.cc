#include "registry/serve/site_copy.h"

#include <optional>
#include <utility>

namespace kiln {
namespace {

std::shared_ptr<const DeploySite> site_with(std::vector<SiteDocument> documents, ImageChooser& chooser,
                                            std::optional<std::int64_t> snapshot) {
  chooser.with_index([&](const Index& index) {
    for (SiteDocument& document : index.site_documents(snapshot)) documents.push_back(std::move(document));
  });
  return std::make_shared<const DeploySite>(std::move(documents));
}

}  // namespace

SiteCopy::SiteCopy(std::vector<SiteDocument> files)
    : files_(std::move(files)), site_(std::make_shared<const DeploySite>(files_)) {}

std::shared_ptr<const DeploySite> SiteCopy::of_now(ImageChooser& chooser) {
  // Before the documents are read: those of a newer index are then read again, and not the other way round.
  const IndexIdentity now = chooser.identity();
  {
    const std::lock_guard held(lock_);
    if (index_ == now) return site_;
  }
  auto site = site_with(files_, chooser, std::nullopt);
  const std::lock_guard held(lock_);
  index_ = now;
  site_ = site;
  return site;
}

std::shared_ptr<const DeploySite> SiteCopy::of_snapshot(ImageChooser& chooser, std::int64_t snapshot) const {
  return site_with(files_, chooser, snapshot);
}

}  // namespace kiln
