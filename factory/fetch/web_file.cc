#include "factory/fetch/web_file.h"

#include <fmt/format.h>

#include "factory/oci/registry_call.h"

namespace kiln {
namespace {

constexpr int kTries = 3;

std::string shown(const std::string& url) { return url.substr(0, url.find_first_of("?#")); }

}  // namespace

void fetch_file(const std::string& url, const std::string& authorization, const Digest& expected, Http& http,
                const MirrorFolder& folder) {
  HttpRequest request{"GET", url};
  if (!authorization.empty()) request.headers.emplace_back("Authorization", authorization);
  const std::string fetching = "cannot fetch " + shown(url);
  for (int tried = 1;; ++tried) {
    try {
      folder.put(
          expected,
          [&](const std::function<void(std::string_view)>& sink) {
            request.take = [&](std::string_view piece) {
              sink(piece);
              return true;
            };
            const HttpAnswer answer = http.send(request);
            if (answer.status == 200) return;
            throw HttpFailure{fmt::format("status {}", answer.status),
                              answer.status >= 500 || answer.status == 429};
          },
          shown(url));
      return;
    } catch (const HttpFailure& failure) {
      if (!failure.may_pass || tried == kTries)
        throw Error(ExitCode::network,
                    fmt::format("{}: {}; tried {} times", fetching, failure.message(), tried));
    }
    wait_unless_interrupted(std::chrono::seconds(tried));
  }
}

}  // namespace kiln
