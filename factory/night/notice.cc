#include "factory/night/notice.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/effects.h"
#include "factory/night/causes.h"
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

// Step and class, not the words: those differ from try to try.
std::string reason_of(const NightImage& image) {
  const std::size_t title = image.what.find(": ");
  return fmt::format(
      "{}: {}, {}{}", image.name, name_of(image.failure), name_of(image.actor),
      image.step.empty() || title == std::string::npos ? "" : ", " + image.what.substr(0, title));
}

std::string reason_of(const NightTrouble& trouble) {
  return fmt::format("{}, {}", identity_of(trouble), name_of(trouble.actor));
}

bool is_known(const NightTrouble& trouble, const SentNotice& before) {
  return before.reasons && std::ranges::binary_search(*before.reasons, reason_of(trouble));
}

void add_troubles(std::string& text, const NightReport& report, const SentNotice& before) {
  for (std::size_t i = 0; i < std::min(kMostNames, report.troubles.size()); ++i)
    text += fmt::format("\n{}: {}", is_known(report.troubles[i], before) ? "still" : "trouble",
                        trouble_text(report.troubles[i]));
}

Json causes_json(const NightReport& report) {
  Json causes = Json::array();
  for (const NightTrouble& trouble : report.troubles)
    causes.push_back({{"cause", name_of(trouble.cause)},
                      {"subject", trouble.subject},
                      {"what", trouble.what},
                      {"actor", name_of(trouble.actor)},
                      {"advice", trouble.advice},
                      {"images", 0}});
  for (const FailureGroup& group : report.failures)
    causes.push_back({{"cause", "images"},
                      {"subject", ""},
                      {"what", group.what},
                      {"actor", name_of(group.actor)},
                      {"advice", ""},
                      {"images", group.cells.size()}});
  return causes;
}

}  // namespace

SentNotice notice_of(const NightReport& report) {
  SentNotice told{std::string(name_of(report.state)), {}, std::vector<std::string>(), report.ended};
  for (const NightImage& image : report.images)
    if (image.failing_since > 0) {
      told.failing.push_back(image.name);
      told.reasons->push_back(reason_of(image));
    }
  for (const NightTrouble& trouble : report.troubles) told.reasons->push_back(reason_of(trouble));
  std::ranges::sort(told.failing);
  std::ranges::sort(*told.reasons);
  return told;
}

News news_in(const NightReport& report, const SentNotice& before, std::int64_t remind) {
  const SentNotice now = notice_of(report);
  const bool is_green = report.state == NightState::green;
  // Green is expected, so the first night has no news if it is green.
  if (before.state.empty()) return is_green ? News::none : News::change;
  if (now.state != before.state || now.failing != before.failing) return News::change;
  if (before.reasons && now.reasons != before.reasons) return News::change;
  const bool is_long_ago = remind > 0 && before.when > 0 && now.when - before.when >= remind;
  return !is_green && is_long_ago ? News::reminder : News::none;
}

Json notice_json(const NightReport& report, const SentNotice& before, const std::string& page, News news) {
  const SentNotice now = notice_of(report);
  const auto failing = difference(now.failing, before.failing);
  const auto mended = difference(before.failing, now.failing);
  std::string text = (news == News::reminder ? "reminder: " : "") + night_headline(report);
  add_troubles(text, report, before);
  add_names(text, "fails", failing);
  add_names(text, "mended", mended);
  if (!page.empty()) text += fmt::format("\nreport: {} on {}", page, report.host);
  return {{"text", text},
          {"matrix", report.matrix},
          {"night", report.number},
          {"state", now.state},
          {"before", before.state},
          {"failing", now.failing},
          {"newly_failing", failing},
          {"mended", mended},
          {"host", report.host},
          {"report", page},
          {"causes", causes_json(report)},
          {"reminder", news == News::reminder},
          {"exit_code", report.exit_code}};
}

Json to_json(const SentNotice& told) {
  Json json{{"state", told.state}, {"failing", told.failing}};
  if (told.reasons) json["reasons"] = *told.reasons;
  if (told.when > 0) json["when"] = rfc3339(told.when);
  return json;
}

SentNotice sent_notice_from_json(const JsonNode& node) {
  SentNotice told{node.at("state").string(), node.at("failing").strings(), std::nullopt, 0};
  if (auto reasons = node.find("reasons")) told.reasons = reasons->strings();
  if (auto when = node.find("when")) told.when = unix_seconds_of(when->string()).value_or(0);
  return told;
}

}  // namespace kiln
