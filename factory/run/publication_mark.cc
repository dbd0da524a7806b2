#include "factory/run/publication_mark.h"

#include "factory/base/digest.h"
#include "factory/state/entry_stamp.h"

namespace kiln {
namespace {

constexpr std::int64_t kReadAgainAfter = 7LL * 24 * 3600;  // a week

}  // namespace

fs::path PublicationMark::file() const { return state_.nights(plan_.name()) / "published.json"; }

std::string PublicationMark::stamp() const {
  std::string text = plan_.name() + "\n";
  for (std::uint32_t number : all_images(plan_)) {
    const ResolvedImage image = plan_.image(number);
    text += image.id() + " " + image.reference() + " " + image.record_name() + "\n";
  }
  for (std::uint32_t number = 0; number < plan_.broken(); ++number)
    text += plan_.broken(number).request.id + "\n";
  for (const fs::path& path :
       {state_.root() / "index.db", state_.root() / "index.db-journal", state_.built_folder(),
        state_.sif_snapshots(), state_.sif_folder(), state_.sif_folder() / "."})
    text += entry_stamp(path) + "\n";
  return Digest::of(text).hex();
}

bool PublicationMark::is_valid() const {
  const auto kept = read_stamp(file(), files_);
  return kept && kept->holds(stamp(), clock_.unix_seconds(), kReadAgainAfter);
}

void PublicationMark::keep() const try {
  files_.make_directories(file().parent_path());
  keep_stamp({stamp(), clock_.unix_seconds()}, file(), files_);
} catch (const Error&) {  // on a full disk; what was published is published
}

}  // namespace kiln
