// The frame of all pages: head, policy, links to the others, and their snapshot. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "factory/pages/page_source.h"
#include "factory/record/image_record.h"
#include "registry/index/index.h"

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

// A <table> that scrolls separately if it is too wide. `caption` is read aloud, the head is markup.
std::string wide_table(const std::string& caption, const std::vector<std::string>& head,
                       const std::string& rows);

// The names of pages, and the names of images on them. Pure.

// A name as one part of a path that every file system and every URL takes as it is: the name itself where it
// is of [a-z0-9._-], else what is left of it, "~" and twelve digits of its SHA-256, so that no two names
// share a file, not even where upper case is lower case.
std::string file_word(std::string_view name);

// "images/pytorch/2.6.0-distro-x86_64.html"; "mappings/<code>.html" of a mapping.
std::string image_path(const ImageRecord& image);
std::string night_path(std::string_view matrix, std::int64_t number);

// From a page at `path` up to the folder of all: "../../", "" for index.html.
std::string way_up(std::string_view path);

// The names of these images: several mappings may have one reference.
class PageNames {
 public:
  explicit PageNames(const std::vector<IndexEntry>& entries);
  std::string operator()(const ImageRecord& image) const { return names_(image); }

 private:
  DistinctNames names_;
};

// without_controls() as a string of JavaScript, in quotes: it ends no script and no line, wherever it stands.
std::string script_text(std::string_view text);

}  // namespace kiln
