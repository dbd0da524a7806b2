// The catalogue's pages, which whoever runs the server knows how to make.
#include <fmt/format.h>

#include "registry/serve/error_response.h"
#include "registry/serve/verbs.h"

namespace kiln {

VerbAnswer answer_page(const VerbCall& call, const VerbPlace& place) {
  std::optional<ServedPage> page;
  if (place.pages) page = place.pages(fmt::format("{}", fmt::join(call.request.target.segments, "/")));
  if (!page) return {nothing_here(ErrorStyle::own)};
  VerbAnswer answer;
  answer.response.body = std::move(page->bytes);
  answer.response.type = std::move(page->media_type);
  answer.response.headers = {{"Cache-Control", "no-cache"},
                             {"Referrer-Policy", "no-referrer"},
                             // A page's own policy cannot say who may frame it.
                             {"Content-Security-Policy", "frame-ancestors 'none'"}};
  return answer;
}

}  // namespace kiln
