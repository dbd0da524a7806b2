#include "factory/night/notice.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/text.h"
#include "factory/night/night_text.h"

namespace kiln {
namespace {

std::vector<std::string> difference(const std::vector<std::string>& of,
                                    const std::vector<std::string>& minus) {
  std::vector<std::string> rest;
  std::set_difference(of.begin(), of.end(), minus.begin(), minus.end(), std::back_inserter(rest));
  return rest;
}

constexpr std::size_t kMostNames = 20;  // in the text; the members have them all

void add_names(std::string& text, const char* word, const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < std::min(kMostNames, names.size()); ++i)
    text += fmt::format("\n{}: {}", word, names[i]);
  if (names.size() > kMostNames) text += fmt::format("\n{}: {} more", word, names.size() - kMostNames);
}

}  // namespace

Told told_of(const NightReport& report) {
  Told told{std::string(name_of(report.state)), {}};
  for (const NightImage& image : report.images)
    if (image.failing_since > 0) told.failing.push_back(image.name);
  std::sort(told.failing.begin(), told.failing.end());
  return told;
}

bool is_news(const NightReport& report, const Told& before) {
  const Told now = told_of(report);
  // Green is what everybody expects: the first night has nothing to say of it.
  if (before.state.empty()) return report.state != NightState::green;
  return now.state != before.state || now.failing != before.failing;
}

Json notice_json(const NightReport& report, const Told& before) {
  const Told now = told_of(report);
  const auto failing = difference(now.failing, before.failing);
  const auto mended = difference(before.failing, now.failing);
  std::string text = night_headline(report);
  add_names(text, "fails", failing);
  add_names(text, "mended", mended);
  return {
      {"text", text},           {"matrix", report.matrix}, {"night", report.number},   {"state", now.state},
      {"before", before.state}, {"failing", now.failing},  {"newly_failing", failing}, {"mended", mended}};
}

Json to_json(const Told& told) { return {{"state", told.state}, {"failing", told.failing}}; }

Told told_from_json(const JsonNode& node) {
  return {node.at("state").string(), node.at("failing").strings()};
}

}  // namespace kiln
