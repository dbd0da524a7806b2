#include "factory/cli/served_pages.h"

#include "registry/answer/chooser.h"

namespace kiln {
namespace {

constexpr double kNightsAreNew = 60;               // seconds: nights come without a change of the index, too
constexpr std::size_t kMostKeptPages = 32u << 20;  // bytes

}  // namespace

struct ServedPages::Made {
  Made(IndexIdentity file, double now, const StatePaths& state, FileSystem& files)
      : identity(file),
        time(now),
        index(Index::open(state.root(), Index::Mode::read)),
        source(index, state, files),
        pages(read_page_content(index, {}, state, files), source) {}

  ServedPage page(const std::string& path, Page made) {
    ServedPage served{std::move(made.media_type), std::move(made.bytes)};
    if (bytes + served.bytes.size() <= kMostKeptPages) {
      bytes += served.bytes.size();
      kept.emplace(path, served);
    }
    return served;
  }

  const IndexIdentity identity;
  const double time;
  const Index index;
  const StatePages source;
  const CataloguePages pages;
  std::map<std::string, ServedPage> kept{};
  std::size_t bytes = 0;  // of them
};

ServedPages::ServedPages(StatePaths state, FileSystem& files, const Clock& clock)
    : state_(std::move(state)), files_(files), clock_(clock) {}

ServedPages::~ServedPages() = default;

void ServedPages::look() {
  const IndexIdentity now = identity_of_index(state_.root());
  const double time = clock_.monotonic_seconds();
  if (made_ && made_->identity == now && time - made_->time < kNightsAreNew) return;
  made_.reset();  // two of them are more than one has to be
  if (now != IndexIdentity{}) made_ = std::make_unique<Made>(now, time, state_, files_);
}

std::optional<ServedPage> ServedPages::page(const std::string& path) {
  if (!CataloguePages::may_be_page(path)) return std::nullopt;
  const std::lock_guard held(lock_);
  look();
  if (!made_) return std::nullopt;
  if (auto found = made_->kept.find(path); found != made_->kept.end()) return found->second;
  auto page = made_->pages.page(path);
  return page ? std::optional(made_->page(path, *std::move(page))) : std::nullopt;
}

}  // namespace kiln
