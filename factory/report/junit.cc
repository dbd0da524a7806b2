#include "factory/report/junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "factory/base/text.h"

namespace kiln {
namespace {

using Chosen = std::vector<const JunitCase*>;

// What stands for a character in XML 1.0, in a text as in an attribute.
std::string_view escaped(char c, bool attribute) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':  // of ]]>
      return "&gt;";
    case '"':
      return attribute ? "&quot;" : "";
    case '\n':
      return attribute ? "&#10;" : "";
    case '\t':
      return attribute ? "&#9;" : "";
    default:
      return "";
  }
}

void append_escaped(std::string& out, std::string_view text, bool attribute) {
  for (char c : text) {
    std::string_view stands_for = escaped(c, attribute);
    if (stands_for.empty())
      out += c;
    else
      out += stands_for;
  }
}

// Without what XML cannot hold: control characters, and the two characters of Unicode that are none.
std::string fit_for_xml(std::string_view text) {
  std::string clean = without_controls(text), out;
  for (std::size_t at = 0; at < clean.size();) {
    std::string_view rest = std::string_view(clean).substr(at);
    if (rest.starts_with("\xef\xbf\xbe") || rest.starts_with("\xef\xbf\xbf")) {
      at += 3;
      continue;
    }
    out += clean[at++];
  }
  return out;
}

// The last characters of a text that need no more than so many bytes, from the beginning of a line where that
// leaves half of them.
std::string_view end_of(std::string_view text, std::size_t bytes) {
  std::size_t begin = text.size(), used = 0;
  for (std::size_t at = text.size(); at > 0; --at) {
    used += std::max<std::size_t>(escaped(text[at - 1], false).size(), 1);
    if (used > bytes) break;
    bool first_byte = (static_cast<unsigned char>(text[at - 1]) & 0xc0) != 0x80;
    if (first_byte) begin = at - 1;
  }
  if (begin == 0) return text;
  std::size_t line = text.find('\n', begin);
  bool half_is_left = line != std::string_view::npos && text.size() - line > (text.size() - begin) / 2;
  return text.substr(half_is_left ? line + 1 : begin);
}

class XmlText {
 public:
  void attribute(std::string_view name, std::string_view value) {
    out_ += fmt::format(" {}=\"", name);
    append_escaped(out_, fit_for_xml(value), true);
    out_ += '"';
  }
  void seconds(double value) {
    if (std::isfinite(value)) out_ += fmt::format(" time=\"{:.3f}\"", std::max(value, 0.0));
  }
  void words(std::string_view text) { append_escaped(out_, text, false); }
  void raw(std::string_view text) { out_ += text; }
  std::string result() { return std::move(out_); }

 private:
  std::string out_;
};

void put_counts(XmlText& out, const Chosen& cases) {
  auto counted_as = [&](JunitOutcome outcome) {
    return std::ranges::count_if(cases, [&](const JunitCase* one) { return one->outcome == outcome; });
  };
  double seconds = 0;
  for (const JunitCase* one : cases)
    if (one->seconds && std::isfinite(*one->seconds)) seconds += *one->seconds;
  out.raw(fmt::format(R"( tests="{}" failures="{}" errors="{}" skipped="{}")", cases.size(),
                      counted_as(JunitOutcome::failed), counted_as(JunitOutcome::error),
                      counted_as(JunitOutcome::skipped)));
  out.seconds(seconds);
}

// GitLab shows the element's text only, and Jenkins the message before it: the text has both.
void put_outcome(XmlText& out, const JunitCase& one, std::size_t text_bytes) {
  std::string_view element = one.outcome == JunitOutcome::failed  ? "failure"
                             : one.outcome == JunitOutcome::error ? "error"
                                                                  : "skipped";
  out.raw(fmt::format("<{}", element));
  out.attribute("message", one.message);
  if (one.outcome != JunitOutcome::skipped) out.attribute("type", one.kind);
  out.raw(">");
  out.words(fit_for_xml(one.message));
  // A log may be large: what is surely too much is not looked at.
  std::string_view log = one.text;
  std::size_t far = 4 * (text_bytes + 64);
  std::string text = fit_for_xml(log.substr(log.size() > far ? log.size() - far : 0));
  std::string_view end = end_of(text, text_bytes);
  if (!end.empty()) out.words(end.size() < text.size() || log.size() > far ? "\n…\n" : "\n");
  out.words(end);
  out.raw(fmt::format("</{}>", element));
}

// Jenkins makes a package of what is before the last dot of a class.
std::string class_of(std::string_view suite) {
  std::string found = fit_for_xml(suite);
  std::ranges::replace(found, '.', '_');
  return found;
}

void put_case(XmlText& out, const JunitCase& one, std::string_view name, std::size_t text_bytes) {
  out.raw("    <testcase");
  out.attribute("classname", class_of(one.suite));
  out.attribute("name", name);
  if (one.seconds) out.seconds(*one.seconds);
  if (one.outcome == JunitOutcome::passed) {
    out.raw("/>\n");
    return;
  }
  out.raw(">");
  put_outcome(out, one, text_bytes);
  out.raw("</testcase>\n");
}

// As many as fit in their order, of the passed what is left.
Chosen chosen(const std::vector<JunitCase>& cases, std::size_t most) {
  auto passed = [](const JunitCase& one) { return one.outcome == JunitOutcome::passed; };
  std::size_t bad = static_cast<std::size_t>(
      std::ranges::count_if(cases, [&](const JunitCase& one) { return !passed(one); }));
  std::size_t left_bad = std::min(bad, most), left_passed = most - left_bad;
  Chosen found;
  for (const JunitCase& one : cases) {
    std::size_t& left = passed(one) ? left_passed : left_bad;
    if (left == 0) continue;
    --left;
    found.push_back(&one);
  }
  return found;
}

// What each text may have, when all else is as large as it can get.
std::size_t bytes_of_text(const Chosen& cases, const JunitLimits& limits) {
  constexpr std::size_t kElement = 200, kLongest = 6;  // &quot;
  std::size_t fixed = 0, texts = 0;
  for (const JunitCase* one : cases) {
    fixed += kElement + kLongest * (2 * one->suite.size() + one->name.size() + 2 * one->message.size());
    texts += one->outcome == JunitOutcome::passed ? 0 : 1;
  }
  std::size_t left = limits.bytes > fixed ? limits.bytes - fixed : 0;
  return std::min(limits.text_bytes, texts == 0 ? left : left / texts);
}

// In the order of their first cases.
std::vector<std::pair<std::string, Chosen>> by_suite(const Chosen& cases) {
  std::vector<std::pair<std::string, Chosen>> suites;
  std::map<std::string, std::size_t> places;
  for (const JunitCase* one : cases) {
    auto [place, added] = places.emplace(one->suite, suites.size());
    if (added) suites.emplace_back(one->suite, Chosen{});
    suites[place->second].second.push_back(one);
  }
  return suites;
}

std::string name_once(std::set<std::string>& names, const std::string& name) {
  std::string found = name;
  for (int number = 2; !names.insert(found).second; ++number) found = fmt::format("{} ({})", name, number);
  return found;
}

}  // namespace

std::string junit_xml(std::string_view title, std::string_view time, const std::vector<JunitCase>& cases,
                      const JunitLimits& limits) {
  Chosen shown = chosen(cases, limits.cases);
  std::size_t text_bytes = bytes_of_text(shown, limits);
  std::map<std::string, std::set<std::string>> names;  // of a class
  XmlText out;
  out.raw("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
  out.attribute(
      "name", shown.size() == cases.size()
                  ? std::string(title)
                  : fmt::format("{} ({} of {} left out)", title, cases.size() - shown.size(), cases.size()));
  put_counts(out, shown);
  out.raw(">\n");
  for (const auto& [suite, of_suite] : by_suite(shown)) {
    out.raw("  <testsuite");
    out.attribute("name", suite);
    put_counts(out, of_suite);
    out.attribute("timestamp", time);
    out.raw(">\n");
    std::set<std::string>& once = names[class_of(suite)];
    for (const JunitCase* one : of_suite)
      put_case(out, *one, name_once(once, fit_for_xml(one->name)), text_bytes);
    out.raw("  </testsuite>\n");
  }
  out.raw("</testsuites>\n");
  return out.result();
}

}  // namespace kiln
