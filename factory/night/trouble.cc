#include "factory/night/trouble.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"
#include "factory/night/causes.h"
#include "factory/night/verdict.h"
#include "factory/run/failure.h"

namespace kiln {
namespace {

TroubleCause cause_of_network(const Error& error) {
  if (failure_class_of(error) == FailureClass::policy) return TroubleCause::refused;
  const bool is_full = (error.message() + error.hint()).find("no space left") != std::string::npos;
  return is_full ? TroubleCause::registry : TroubleCause::network;
}

TroubleCause trouble_cause_of(const Error& error) {
  switch (error.code()) {
    case ExitCode::network:
      return cause_of_network(error);
    case ExitCode::locked:
      return TroubleCause::lock;
    case ExitCode::store:
      return TroubleCause::disk;
    case ExitCode::tool_missing:
    case ExitCode::timeout:
      return TroubleCause::tool;
    case ExitCode::usage:
    case ExitCode::input:
    case ExitCode::no_match:
      return TroubleCause::input;
    default:
      return TroubleCause::internal;
  }
}

// Its notes ("while publishing") follow in the same line.
std::string in_one_line(const Error& error) {
  std::string text = without_controls(error.format(""));
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) {
    const std::size_t next = std::min(text.find_first_not_of(" \n", at), text.size());
    text.replace(at, next - at, next == text.size() ? "" : ", ");
  }
  return text;
}

struct Advice {
  Actor actor;
  std::string text;
};

Advice advice_on_passing(std::int64_t nights) {
  if (nights <= kNightsOfPatience) return {Actor::nobody, "the next night tries again"};
  return {Actor::site, fmt::format("find the cause: it has lasted for {} nights", nights)};
}

Advice advice_on(const NightTrouble& trouble, std::int64_t nights) {
  switch (trouble.cause) {
    case TroubleCause::network:
    case TroubleCause::lock:
      return advice_on_passing(nights);
    case TroubleCause::refused:
      return {Actor::site, trouble.subject.empty() ? "renew the login that kiln uses there"
                                                   : "renew the login of kiln at " + trouble.subject};
    case TroubleCause::registry:
      return {Actor::site, "mend the registry, or make room there"};
    case TroubleCause::tag:
      return {Actor::site,
              "find out who moved it; `kiln publish --take-tags` moves it to the image of the index"};
    case TroubleCause::disk:
      return {Actor::site, "make room on the disk, or mend it: `kiln gc` lists what can go"};
    case TroubleCause::tool:
      return {Actor::site, "`kiln doctor` shows what is missing on this machine"};
    case TroubleCause::input:
      return {Actor::recipe, "mend the matrix or the lockfile"};
    case TroubleCause::gain:
      break;  // has its advice
    case TroubleCause::forged:
      return {Actor::site, "find out who can write there, and remove the record"};
    case TroubleCause::internal:
      break;
  }
  return {Actor::site, "report it as a fault of kiln"};
}

void give(NightTrouble& trouble, Advice advice) {
  trouble.actor = advice.actor;
  trouble.advice = std::move(advice.text);
}

}  // namespace

NightTrouble trouble_of(const Error& error, const std::string& subject, std::string_view site_file) {
  NightTrouble trouble;
  trouble.cause = trouble_cause_of(error);
  trouble.subject = subject;
  trouble.what = in_one_line(error);
  trouble.code = error.code();
  if (trouble.cause == TroubleCause::input && !site_file.empty() && error.where().file == site_file)
    give(trouble, {Actor::site, "mend the site file"});
  return trouble;
}

void judge(NightTrouble& trouble, const std::vector<NightTrouble>& before, std::int64_t night) {
  const auto same = std::find_if(before.begin(), before.end(), [&](const NightTrouble& one) {
    return one.cause == trouble.cause && one.subject == trouble.subject;
  });
  trouble.since = same == before.end() || same->since == 0 ? night : same->since;
  if (trouble.advice.empty()) give(trouble, advice_on(trouble, night - trouble.since + 1));
}

std::string identity_of(const NightTrouble& trouble) {
  return fmt::format("{} {}: {}", name_of(trouble.cause), trouble.subject, signature_of(trouble.what));
}

void add_trouble(NightReport& report, NightTrouble trouble) {
  const std::string identity = identity_of(trouble);
  const bool is_known = std::any_of(report.troubles.begin(), report.troubles.end(),
                                    [&](const NightTrouble& one) { return identity_of(one) == identity; });
  if (!is_known) report.troubles.push_back(std::move(trouble));
}

}  // namespace kiln
