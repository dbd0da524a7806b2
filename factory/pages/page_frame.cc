#include "factory/pages/page_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "factory/base/digest.h"
#include "factory/base/error.h"
#include "factory/base/json_text.h"
#include "factory/base/quote.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

// Only what lies beside the page; no frames, plugins, forms that are sent, or base that moves links.
constexpr std::string_view kPolicy =
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src {}; base-uri "
    "'none'; "
    "form-action 'none'";

struct NavLink {
  std::string_view path, word;
};
constexpr std::array<NavLink, 3> kNav = {
    {{"index.html", "Catalogue"}, {"ask.html", "Ask"}, {"nights.html", "Nights"}}};

std::string head_of(const PageFrame& frame, const std::string& up) {
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\"><meta name=\"referrer\" content=\"no-referrer\">\n"
      "<title>{}</title>\n<link rel=\"icon\" type=\"image/svg+xml\" href=\"{}assets/icon.svg\">\n"
      "<link rel=\"stylesheet\" href=\"{}assets/pages.css\">\n",
      fmt::format(fmt::runtime(kPolicy), frame.asks ? "'self'" : "'none'"), markup_text(frame.title), up, up);
  for (const std::string& script : frame.scripts)
    html += fmt::format("<script src=\"{}{}\" defer></script>\n", up, script);
  return html + "</head>\n";
}

std::string nav_of(const PageFrame& frame, const std::string& up) {
  std::string html = fmt::format(
      "<header class=\"top\"><a class=\"mark\" href=\"{0}index.html\"><img src=\"{0}assets/icon.svg\" "
      "alt=\"\" "
      "width=\"24\" height=\"24\">kiln</a>\n<nav aria-label=\"Pages\"><ul>",
      up);
  for (const NavLink& link : kNav)
    html += fmt::format("<li><a href=\"{}{}\"{}>{}</a></li>", up, link.path,
                        link.path == frame.path ? " aria-current=\"page\"" : "", link.word);
  return html + "</ul></nav></header>\n";
}

std::string foot_of(const PageContent& content, const std::string& up) {
  std::string from = "Nothing was published yet.";
  for (const Snapshot& snapshot : content.snapshots)
    if (snapshot.number == content.snapshot)
      from = fmt::format("Snapshot {} of {}{}.", snapshot.number, markup_text(snapshot.created),
                         snapshot.current ? "" : ", which is not the current one");
  return fmt::format("<footer><p>{} <a href=\"{}images.html\">All images as a list</a></p></footer>\n", from,
                     up);
}

constexpr std::size_t kMostWord = 120;  // bytes; file systems have 255, and the ending comes behind
constexpr std::size_t kMostKept = 48;   // of a name that is not a word

bool is_plain(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || c == '.' || c == '_' || c == '-'; }

}  // namespace

std::string framed(const PageFrame& frame, const PageContent& content) {
  const std::string up = way_up(frame.path);
  return head_of(frame, up) + "<body>\n<a class=\"skip\" href=\"#main\">Skip to content</a>\n" +
         nav_of(frame, up) + "<main id=\"main\" tabindex=\"-1\">\n" + frame.main + "</main>\n" +
         foot_of(content, up) + "</body></html>\n";
}

std::string policy_hash(std::string_view text) {
  const std::string hex = Digest::of(text).hex();
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return "sha256-" + base64_of(bytes);
}

std::string with_policy(std::string html, const std::string& path) {
  constexpr std::string_view kOpen = "<style>", kHead = "<head>", kMain = "<main>";
  const std::size_t open = html.find(kOpen), close = html.find("</style>", open), head = html.find(kHead);
  if (open == std::string::npos || close == std::string::npos || head == std::string::npos)
    throw Error(ExitCode::internal, "a page without a head or a style");
  const std::string hash =
      policy_hash(std::string_view(html).substr(open + kOpen.size(), close - open - kOpen.size()));
  if (const std::size_t main = html.find(kMain); main != std::string::npos)
    html.insert(main + kMain.size(),
                fmt::format("<p><a href=\"{}nights.html\">All nights</a></p>\n", way_up(path)));
  html.insert(
      head + kHead.size(),
      fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                  "'{}'; base-uri 'none'; form-action 'none'\">",
                  hash));
  return html;
}

std::string section(std::string_view id, std::string_view title, const std::string& content) {
  if (content.empty()) return "";
  return fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-title\"><h2 id=\"{0}-title\">{1}</h2>\n{2}</section>\n", id,
      title, content);
}

std::string copy_block(const std::string& label, const std::string& text) {
  return fmt::format(
      "<figure class=\"copy\"><figcaption>{}</figcaption><pre><code>{}</code></pre></figure>\n", label,
      markup_text(text));
}

std::string wide_table(const std::string& caption, const std::vector<std::string>& head,
                       const std::string& rows) {
  std::string html = fmt::format(
      "<div class=\"wide\" role=\"region\" tabindex=\"0\" "
      "aria-label=\"{0}\"><table><caption>{0}</caption>\n<thead><tr>",
      caption);
  for (const std::string& cell : head) html += fmt::format("<th scope=\"col\">{}</th>", cell);
  return html + "</tr></thead>\n<tbody>\n" + rows + "</tbody></table></div>\n";
}

std::string file_word(std::string_view name) {
  const bool is_word = !name.empty() && name.size() <= kMostWord && name.front() != '.' &&
                       name.front() != '-' && std::ranges::all_of(name, is_plain);
  if (is_word) return std::string(name);
  std::string kept;
  for (char c : name.substr(0, kMostKept)) kept += is_plain(lower_case(c)) ? lower_case(c) : '_';
  if (kept.empty() || kept.front() == '.' || kept.front() == '-') kept.insert(0, "_");
  return kept + "~" + Digest::of(name).hex().substr(0, 12);
}

std::string image_path(const ImageRecord& image) {
  if (image.external()) return fmt::format("mappings/{}.html", file_word(image.code));
  return fmt::format("images/{}/{}.html", file_word(image.repository), file_word(image.tag));
}

std::string night_path(std::string_view matrix, std::int64_t number) {
  return fmt::format("nights/{}/{}.html", file_word(matrix), number);
}

std::string way_up(std::string_view path) {
  std::string up;
  for (char c : path)
    if (c == '/') up += "../";
  return up;
}

PageNames::PageNames(const std::vector<IndexEntry>& entries) {
  for (const IndexEntry& entry : entries) names_.add(entry.image);
}

std::string script_text(std::string_view text) {
  std::string json;
  append_json(json, without_controls(text));
  std::string script;
  script.reserve(json.size());
  for (char c : json) {
    if (c == '<' || c == '>' || c == '&')
      script += fmt::format("\\u{:04x}", c);
    else
      script += c;
  }
  return script;
}

}  // namespace kiln
