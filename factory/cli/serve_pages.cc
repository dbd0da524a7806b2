#include "cli/serve_pages.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <array>

#include "pages/catalogue_pages.h"
#include "pages/state_pages.h"

namespace kiln {
namespace {

// What of a file changes with its contents; all 0 where there is none.
std::array<std::int64_t, 4> marks_of(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return {};
  return {static_cast<std::int64_t>(status.st_ino), status.st_size, status.st_mtim.tv_sec,
          status.st_mtim.tv_nsec};
}

HttpResponse page_response(Page page) {
  HttpResponse response{200, std::move(page.bytes), std::move(page.media_type)};
  response.headers = {{"Cache-Control", "no-cache"},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Referrer-Policy", "no-referrer"},
                      // A page's own policy cannot say who may frame it.
                      {"Content-Security-Policy", "frame-ancestors 'none'"}};
  return response;
}

}  // namespace

struct ServedPages::Held {
  Held(const StatePaths& state, FileSystem& files, std::array<std::int64_t, 4> marks)
      : file(marks),
        index(Index::open(state.root(), Index::Mode::read)),
        source(index, state, files),
        pages(read_page_content(index, {}, state, files), source) {}

  std::array<std::int64_t, 4> file;  // marks_of() the index
  Index index;
  StatePages source;
  CataloguePages pages;
};

ServedPages::ServedPages(StatePaths state, FileSystem& files) : state_(std::move(state)), files_(files) {}
ServedPages::~ServedPages() = default;

bool ServedPages::refresh() {
  const auto marks = marks_of(state_.root() / "index.db");
  if (marks == std::array<std::int64_t, 4>{}) return false;
  if (held_ && held_->file == marks) return true;
  held_.reset();  // two of them are more than one has to be
  held_ = std::make_unique<Held>(state_, files_, marks);
  return true;
}

std::optional<HttpResponse> ServedPages::answer(const HttpRequest& request) {
  if (request.method != "GET" && request.method != "HEAD") return std::nullopt;
  const std::string path = fmt::format("{}", fmt::join(request.target.segments, "/"));
  if (!CataloguePages::may_be_page(path)) return std::nullopt;
  try {
    const std::lock_guard held(lock_);
    if (!refresh()) return std::nullopt;
    if (auto page = held_->pages.page(path)) return page_response(*std::move(page));
  } catch (const std::exception&) {  // what is wrong with the index, every other answer says, too
    return http_error(503, "the catalogue cannot be read", "kiln index fsck and kiln index recover say more");
  }
  return std::nullopt;
}

}  // namespace kiln
