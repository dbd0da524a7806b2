#include "factory/app/night_settling.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/effects.h"
#include "factory/base/text.h"
#include "factory/night/causes.h"

namespace kiln {
namespace {

NightTrouble tag_trouble(const std::string& kind, const std::string& tag, ExitCode code) {
  NightTrouble trouble;
  trouble.cause = TroubleCause::tag;
  trouble.subject = tag.substr(0, tag.find(": "));
  trouble.what = fmt::format("the {} is left unchanged: {}", kind, without_controls(tag));
  trouble.code = code;
  return trouble;
}

}  // namespace

std::vector<std::string> remarks_on_time(std::int64_t now, std::int64_t last, std::int64_t every) {
  std::vector<std::string> remarks;
  if (last > now)
    remarks.push_back(fmt::format("the clock went back: the night before began at {}, and this one at {}",
                                  rfc3339(last), rfc3339(now)));
  if (every == 0 || last == 0 || now - last < every + every / 2) return remarks;
  const std::int64_t missed = (now - last + every / 2) / every - 1;
  remarks.push_back(fmt::format("{} did not run: the last one began at {}",
                                counted(static_cast<std::size_t>(missed), "night"), rfc3339(last)));
  return remarks;
}

std::string floating_remark(const LockNeeds& needs, const std::string& matrix) {
  const std::vector<std::string> floating = floating_needs(needs);
  if (floating.empty()) return "";
  constexpr std::size_t kMostNamed = 5;
  const std::size_t named = std::min(kMostNamed, floating.size());
  return fmt::format("{} without a lockfile: {}{}; `kiln lock -f {}` pins {}",
                     floating.size() == 1 ? "a base floats" : "bases float",
                     fmt::join(floating.begin(), floating.begin() + static_cast<std::ptrdiff_t>(named), ", "),
                     floating.size() > named ? fmt::format(" and {} more", floating.size() - named) : "",
                     matrix, floating.size() == 1 ? "it" : "them");
}

std::vector<NightTrouble> tag_troubles(const std::vector<std::string>& foreign,
                                       const std::vector<std::string>& unclear) {
  std::vector<NightTrouble> troubles;
  for (const std::string& tag : foreign) troubles.push_back(tag_trouble("tag", tag, ExitCode::locked));
  for (const std::string& alias : unclear) {
    troubles.push_back(tag_trouble("alias", alias, ExitCode::input));
    troubles.back().actor = Actor::site;
    troubles.back().advice =
        "mend the aliases of the site file: patterns that choose one image a platform, and names that no "
        "image has";
  }
  return troubles;
}

NightTrouble lost_trouble(const std::vector<std::string>& lost, const std::string& registry) {
  NightTrouble trouble;
  trouble.cause = TroubleCause::registry;
  trouble.subject = registry;
  trouble.what = fmt::format("the registry lacks {} that the index answers with: {}{}",
                             counted(lost.size(), "part"), without_controls(lost.front()),
                             lost.size() > 1 ? fmt::format(" (and {} more)", lost.size() - 1) : "");
  trouble.code = ExitCode::network;
  trouble.actor = Actor::site;
  trouble.advice =
      "`kiln build` makes again what the store lacks as well; `kiln index fsck --registry --repair` pushes "
      "it";
  return trouble;
}

std::vector<std::string> mended_remarks(const std::vector<std::string>& mended) {
  constexpr std::size_t kMostNamed = 20;
  constexpr std::string_view kWords = "the registry had lost a part, which was pushed again: ";
  std::vector<std::string> remarks;
  for (std::size_t i = 0; i < std::min(kMostNamed, mended.size()); ++i)
    remarks.push_back(fmt::format("{}{}", kWords, without_controls(mended[i])));
  if (mended.size() > kMostNamed)
    remarks.push_back(fmt::format("{}{} more", kWords, mended.size() - kMostNamed));
  return remarks;
}

NightTrouble forged_trouble(const std::vector<ForgedStep>& forged) {
  NightTrouble trouble;
  trouble.cause = TroubleCause::forged;
  trouble.subject = "shared steps";
  const ForgedStep& first = forged.front();
  trouble.what = fmt::format("{} of other builders not trusted: {}: {}{}",
                             counted(forged.size(), "signed step"), first.title, without_controls(first.why),
                             forged.size() > 1 ? fmt::format(" (and {} more)", forged.size() - 1) : "");
  return trouble;
}

NightTrouble derivation_trouble(const Error& damage) {
  NightTrouble trouble = trouble_of(damage, damage.where().file, "");
  trouble.actor = Actor::site;
  trouble.advice =
      "derive the application again with its files, or remove it: `kiln derive --remove NAME`; until then "
      "its images are not built again";
  return trouble;
}

void settle(NightReport& report, const std::vector<NightTrouble>& before) {
  for (NightTrouble& trouble : report.troubles) {
    judge(trouble, before, report.number);
    if (report.exit_code == 0) report.exit_code = static_cast<int>(trouble.code);
  }
  if (!report.troubles.empty() && report.state == NightState::green) report.state = NightState::red;
  if (report.state == NightState::green) report.last_green = report.ended;
  if (report.state == NightState::interrupted)
    report.exit_code = static_cast<int>(ExitCode::interrupted);
  else if (report.state != NightState::green && report.exit_code == 0)
    report.exit_code = static_cast<int>(ExitCode::images_failed);
}

}  // namespace kiln
