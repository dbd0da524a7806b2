// A registry client, and the answers by hand that it gets.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "factory/base/digest.h"
#include "factory/distribution/registry_client.h"
#include "support/fake_effects.h"

namespace kiln::testing {

class FakeHttp final : public Http {
 public:
  HttpAnswer send(const HttpRequest& request) override {
    requests.push_back(request);
    if (request.method == fails) throw HttpFailure{"reset"};
    if (answers.empty()) return {500, {}, ""};
    HttpAnswer answer = answers.front();
    answers.pop_front();
    if (request.take && answer.status == 200) (void)request.take(answer.body);
    return answer;
  }
  // The header of a request; "" without it.
  std::string sent(std::size_t request, const std::string& name) const {
    for (const auto& [header, value] : requests.at(request).headers)
      if (header == name) return value;
    return "";
  }

  std::string fails;  // requests of this method
  std::deque<HttpAnswer> answers;
  std::vector<HttpRequest> requests;
};

class RegistryClientTest : public ::testing::Test {
 protected:
  RegistryClient client_of(const std::string& address) {
    return RegistryClient({RegistryAddress::parse(address), http,
                           [](const std::string&) {
                             return Credentials{"me", "secret", "", "a file"};
                           },
                           clock, 2,
                           [this](std::chrono::milliseconds time) { waited.push_back(time.count()); }});
  }
  void answer(int status, std::multimap<std::string, std::string> headers = {},
              const std::string& body = "") {
    http.answers.push_back({status, std::move(headers), body});
  }
  void refuse() { answer(401, {{"www-authenticate", "Basic realm=\"r\""}}); }

  FakeHttp http;
  FakeClock clock;
  std::vector<std::int64_t> waited;  // milliseconds
  const std::string basic = "Basic " + base64_of("me:secret");
};

}  // namespace kiln::testing
