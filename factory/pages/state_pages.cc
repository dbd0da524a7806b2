#include "factory/pages/state_pages.h"

#include <map>

#include "factory/night/night_files.h"
#include "factory/night/night_text.h"
#include "factory/oci/blob_store.h"
#include "factory/render/render.h"
#include "factory/resolve/resolve.h"
#include "factory/state/plan_file.h"

namespace kiln {
namespace {

constexpr std::uint64_t kMostShown = 256u << 20;  // bytes of a document
constexpr std::size_t kNightsOfMatrix = 60;       // that are listed

std::vector<NightRow> nights_of(const StatePaths& state, const std::string& matrix, FileSystem& files) {
  std::vector<NightRow> nights;
  NightFolder(state, matrix, files).each_report([&](const NightReport& report) {
    nights.push_back({report.matrix, report.number, std::string(name_of(report.state)),
                      rfc3339(report.started), night_headline(report)});
    return nights.size() < kNightsOfMatrix;
  });
  return nights;
}

// Of the snapshots that are kept.
std::map<std::string, std::string> first_published(const PageContent& content, const Index& index) {
  std::map<std::int64_t, std::string> times;
  for (const Snapshot& snapshot : content.snapshots) times.emplace(snapshot.number, snapshot.created);
  std::map<std::string, std::string> published;
  for (const IndexEntry& entry : content.entries) {
    const ImageRecord& image = entry.image;
    const std::string own = image.identity().hex();
    const bool external = image.external();
    for (const TagSpan& span :
         index.history(external ? "" : image.repository, external ? image.code : image.tag))
      if (const auto time = times.lower_bound(span.first);
          span.image == own && time != times.end() && time->first <= span.last) {
        std::string& known = published[own];
        if (known.empty() || time->second < known) known = time->second;
        break;
      }
  }
  return published;
}

}  // namespace

PageContent read_page_content(const Index& index, std::optional<std::int64_t> snapshot,
                              const StatePaths& state, FileSystem& files) {
  PageContent content{snapshot.value_or(index.current()), index.snapshots(), index.entries(snapshot)};
  content.published = first_published(content, index);
  const fs::path nights = state.nights("x").parent_path();
  for (const std::string& matrix : files.list(nights))
    if (files.is_directory(nights / matrix))
      for (NightRow& night : nights_of(state, matrix, files)) content.nights.push_back(std::move(night));
  return content;
}

// The plans of the state folder by their names; each is opened when an image of it is asked for.
struct StatePages::Plans {
  std::map<std::string, std::optional<PlanFile>> opened;
};

StatePages::StatePages(const Index& index, const StatePaths& state, FileSystem& files)
    : index_(index), state_(state), files_(files), plans_(std::make_unique<Plans>()) {}
StatePages::~StatePages() = default;

std::optional<PageDocument> StatePages::document(const ImageRecord& image, const std::string& kind) const {
  const Attachment* attachment = image.attachment(kind);
  if (attachment == nullptr) return std::nullopt;
  try {
    return PageDocument{BlobStore(state_.store()).read(attachment->blob.digest, kMostShown)};
  } catch (const Error&) {  // its words name a file of ours, which is nobody's business
    return PageDocument{"",
                        attachment->blob.digest.text() + " is damaged or gone; kiln index fsck says more"};
  }
}

std::optional<DefinitionFiles> StatePages::definitions(const ImageRecord& image) const {
  if (image.external() || image.cell.empty()) return std::nullopt;
  for (const std::string& name : files_.stems(state_.plan("x").parent_path())) {
    const auto [plan, is_new] = plans_->opened.try_emplace(name);
    try {
      if (is_new) plan->second = PlanFile::open(files_, state_.plan(name));
      const auto spec = plan->second ? plan->second->image(image.cell) : std::nullopt;
      // The plan may have moved on: then its cell of that name is another image.
      if (spec && spec->key == image.key)
        return DefinitionFiles{render_dockerfile(*spec), render_singularity(*spec)};
    } catch (const Error&) {  // a plan that is damaged, or of another version, has nothing to say
    }
  }
  return std::nullopt;
}

std::vector<TagSpan> StatePages::history(const std::string& repository, const std::string& tag) const {
  return index_.history(repository, tag);
}

std::optional<std::string> StatePages::night(const std::string& matrix, std::int64_t number) const {
  std::vector<PastNight> before;
  std::optional<NightReport> wanted;
  NightFolder(state_, matrix, files_).each_report([&](const NightReport& report) {
    if (report.number > number) return true;
    if (report.number == number) wanted = report;
    if (wanted) before.insert(before.begin(), past_of(report));
    return wanted && before.size() < kNightsOfMatrix;
  });
  if (!wanted) return std::nullopt;
  return night_html(*wanted, before);
}

}  // namespace kiln
