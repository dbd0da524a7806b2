// Finds passwords, tokens and keys in foreign text: whether a text contains one, and the text without it.
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln {

// Why a variable with this name and value looks like a secret, "" when it does not. Values that are taken
// from elsewhere ($…) never do.
std::string secret_in(std::string_view name, std::string_view value);

// Whether a variable of this name holds a secret, whatever its value: API_TOKEN, DB_PASSWORD.
bool is_secret_name(std::string_view name);

// A token or a private key inside any text, named by its kind: "a GitHub token"; "" without.
std::string token_in(std::string_view text);

// `user:password@` of a URL inside any text.
bool has_credentials(std::string_view text);

// Replaces each secret in redacted text.
inline constexpr std::string_view kRedacted = "REDACTED";

struct RedactedSecret {
  int line = 0;      // of the text, from 1
  std::string what;  // "API_TOKEN looks like a secret by its name"
  bool operator==(const RedactedSecret&) const = default;
};

// The text with kRedacted in the place of the values of NAME=value (and of `ENV NAME value`) that
// secret_in() finds, of tokens, of private keys and of passwords in URLs. Lines keep their numbers.
std::string redacted(std::string_view text, std::vector<RedactedSecret>& found);

// The same without NAME=value, for a file in an unknown language.
std::string redacted_tokens(std::string_view text, std::vector<RedactedSecret>& found);

}  // namespace kiln
