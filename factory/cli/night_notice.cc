#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/secret_mask.h"
#include "factory/base/text.h"
#include "factory/cli/night_work.h"
#include "factory/distribution/http.h"
#include "factory/run/failure.h"

namespace kiln {
namespace {

constexpr std::chrono::seconds kPatience{60};

std::string webhook_url(const SecretSource& place, const Invocation& invocation) {
  std::string url;
  if (!place.variable.empty()) {
    auto found = invocation.environment.find(place.variable);
    if (found != invocation.environment.end()) url = found->second;
  } else {
    url = invocation.files.read(place.file, 8192).value_or("");
  }
  url = trimmed(url);
  if (url.empty())
    throw Error(ExitCode::input, fmt::format("{} has no URL for the webhook",
                                             place.variable.empty() ? place.file : "$" + place.variable));
  return url;
}

// The URL is what lets us in: it stands in no message.
void post(const Json& notice, const std::string& url, Invocation& invocation) {
  HttpRequest request{"POST", url};
  request.headers = {{"Content-Type", "application/json"}};
  request.body = notice.dump(-1, ' ', false, Json::error_handler_t::replace);
  HttpAnswer answer;
  try {
    answer = open_http({invocation.environment, kPatience})->send(request);
  } catch (const HttpFailure& failure) {
    SecretMask hidden({url});
    const std::string what = hidden.masked(failure.message());
    throw Error(ExitCode::network, "the webhook: " + what + hidden.finish());
  }
  if (answer.status < 200 || answer.status > 299)
    throw Error(ExitCode::network, fmt::format("the webhook answered {}", answer.status));
}

void run_command(const fs::path& notice, const std::vector<std::string>& words, Invocation& invocation) {
  Command command;
  // The runner gives programs no input of their own.
  command.argv = {"sh", "-c", "exec \"$@\" <\"$0\"", fs::absolute(notice).string()};
  command.argv.insert(command.argv.end(), words.begin(), words.end());
  command.environment = invocation.environment;
  command.limits.wall = kPatience;
  const CommandResult result = invocation.runner.run(command);
  if (!result.ok())
    throw Error(ExitCode::images_failed,
                fmt::format("'{}': {}: {}", words.front(), describe_end(result, command.limits),
                            last_lines(result.tail, 1)));
}

}  // namespace

void notify_site(const NightReport& report, NightFolder& folder, const NightSettings& settings,
                 Invocation& invocation) {
  if (!settings.webhook && settings.command.empty()) return;
  const SentNotice before = folder.told();
  const News news = news_in(report, before, settings.remind.count());
  if (news == News::none) return;
  const fs::path page = fs::absolute(folder.night(report.number) / "report.html");
  const Json notice = notice_json(report, before, page.string(), news);
  const fs::path file = folder.night(report.number) / "notice.json";
  invocation.files.write(file, notice.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  if (settings.webhook) post(notice, webhook_url(*settings.webhook, invocation), invocation);
  if (!settings.command.empty()) run_command(file, settings.command, invocation);
  folder.write(notice_of(report));
}

}  // namespace kiln
