// The catalogue's pages, which whoever runs the server knows how to make.
#include <fmt/format.h>

#include "registry/serve/error_response.h"
#include "registry/serve/verbs.h"

namespace kiln {

VerbAnswer answer_page(const VerbCall& call, const VerbPlace& place) {
  const auto& segments = call.request.target.segments;
  if (segments.size() < 2) return answer_front(call, place);
  const std::string path = fmt::format("{}", fmt::join(segments.begin() + 1, segments.end(), "/"));
  std::optional<ServedPage> page;
  if (place.pages) page = place.pages(path);
  if (!page) return {plain_error(404, "there is no such page", "/catalogue is the first", ErrorStyle::own)};
  VerbAnswer answer;
  answer.response.body = std::move(page->bytes);
  answer.response.type = std::move(page->media_type);
  // What a page's own policy cannot say.
  answer.response.headers.emplace_back("Content-Security-Policy", "frame-ancestors 'none'");
  answer.response.headers.emplace_back("Referrer-Policy", "no-referrer");
  return answer;
}

VerbAnswer answer_front(const VerbCall&, const VerbPlace&) {
  VerbAnswer answer;
  answer.response.status = 307;
  answer.response.type = "";
  answer.response.headers.emplace_back("Location", "/catalogue/index.html");
  return answer;
}

}  // namespace kiln
