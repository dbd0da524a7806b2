// What registries answer: errors, challenges, lists. Only for registry_client.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/digest.h"
#include "factory/distribution/credentials.h"
#include "factory/distribution/http.h"

namespace kiln {

inline constexpr std::size_t kMostPages = 10'000;  // of a list, before its registry is taken for a mad one

// 429, and 5xx but for a full disk: it may go well at another time.
bool passes(const HttpAnswer& answer);
bool is_full(const HttpAnswer& answer);
// "403 DENIED: requested access to the resource is denied", in one line; bodies may be anything.
std::string said_by(const HttpAnswer& answer);
std::string error_code_in(const HttpAnswer& answer);  // "" where there is none

// How a 401 wants to be told who we are.
struct Challenge {
  bool is_bearer = false;  // else Basic
  std::string realm, service;
};
Challenge challenge_in(const HttpAnswer& answer);
std::string basic_authorization(const Credentials& who);
// Throws Error(network): there is none, or one that cannot stand in a header.
std::string token_in(const HttpAnswer& answer);
std::string in_query(std::string_view text);  // percent-encoded, RFC 3986

std::optional<Digest> digest_in(const std::string& text);  // nullopt: it is none that we know
std::optional<std::uint64_t> number_in(const std::string& text);
std::string next_page(const HttpAnswer& answer);  // of its Link headers, as written; "" for none
// Throws Error(network): it is no list of tags.
std::vector<std::string> tags_in(const std::string& body, const std::string& url);

}  // namespace kiln
