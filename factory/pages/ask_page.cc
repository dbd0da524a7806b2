#include "pages/list_pages.h"
#include "pages/page_frame.h"

namespace kiln {

std::string ask_page(const PageContent& content) {
  return framed({"ask.html", "Ask · kiln", "<h1>Ask</h1>\n"}, content);
}

}  // namespace kiln
