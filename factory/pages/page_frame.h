// What all pages have around their content: head, policy, ways to the others, and from which snapshot they
// are. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "factory/pages/page_source.h"

namespace kiln {

struct PageFrame {
  std::string path;                    // of the page, below the folder of all
  std::string title;                   // as text
  std::string main;                    // as markup, with its <h1>
  std::vector<std::string> scripts{};  // "assets/catalogue.js"
  bool asks = false;                   // it asks the server that it came from
};

std::string framed(const PageFrame& frame, const PageContent& content);

// A night's report, which brings its own head and style, as the page at `path`: with a policy that lets this
// one style in and no script, and a way back. `html` as night_html() makes it.
std::string with_policy(std::string html, const std::string& path);

// Base64 of the SHA-256 of the text, as a policy names it: "sha256-…".
std::string policy_hash(std::string_view text);

// A section with a heading and an anchor; "" where there is no content.
std::string section(std::string_view id, std::string_view title, const std::string& content);

// Text to copy under a label, which is markup.
std::string copy_block(const std::string& label, const std::string& text);

// A <table> that scrolls by itself where it is too wide. `caption` is read aloud, the head is markup.
std::string wide_table(const std::string& caption, const std::vector<std::string>& head,
                       const std::string& rows);

}  // namespace kiln
