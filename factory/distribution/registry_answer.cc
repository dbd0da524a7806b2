#include "factory/distribution/registry_answer.h"

#include <nlohmann/json.hpp>

#include "factory/base/error.h"
#include "factory/base/json.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr std::size_t kMostSaid = 300;  // bytes of what a registry says that are shown

// One of its errors, distribution-spec "Error Codes".
struct Said {
  std::string code, message;
};

std::vector<Said> errors_in(const std::string& body) {
  const Json document = Json::parse(body, nullptr, false);
  if (!document.is_object() || !document.contains("errors") || !document["errors"].is_array()) return {};
  std::vector<Said> said;
  for (const Json& error : document["errors"]) {
    auto text = [&](const char* key) {
      if (!error.is_object()) return std::string();
      auto found = error.find(key);
      return found != error.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    said.push_back({text("code"), text("message")});
  }
  return said;
}

Said first_error(const std::string& body) {
  const std::vector<Said> errors = errors_in(body);
  return errors.empty() ? Said{} : errors.front();
}

std::string in_one_line(std::string text) {
  for (char& c : text)
    if (is_control(c)) c = ' ';
  if (text.size() > kMostSaid) text = text.substr(0, kMostSaid) + "…";
  return text;
}

const char* phrase(int status) {
  switch (status) {
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 413:
      return "Content Too Large";
    case 416:
      return "Range Not Satisfiable";
    case 429:
      return "Too Many Requests";
    case 500:
      return "Internal Server Error";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 507:
      return "Insufficient Storage";
    default:
      return "";
  }
}

constexpr std::string_view kTokenEnd = " \t,;=\"<>";

// What stands at the front of a header's value, taken from it piece by piece (RFC 9110, 5.6).
class HeaderWords {
 public:
  explicit HeaderWords(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }
  bool take_char(char c) {
    skip_blanks();
    const bool is_here = rest_.starts_with(c);
    if (is_here) rest_.remove_prefix(1);
    return is_here;
  }
  void skip() {
    if (!rest_.empty()) rest_.remove_prefix(1);
  }
  // "" where none begins here.
  std::string token() {
    skip_blanks();
    const std::string_view token = rest_.substr(0, rest_.find_first_of(kTokenEnd));
    rest_.remove_prefix(token.size());
    return std::string(token);
  }
  // A token, or a quoted text without its quotes; nullopt where the closing one is missing.
  std::optional<std::string> value() {
    if (!take_char('"')) return token();
    std::string text;
    for (; !rest_.empty(); rest_.remove_prefix(1)) {
      if (rest_.front() == '"') {
        rest_.remove_prefix(1);
        return text;
      }
      if (rest_.front() == '\\' && rest_.size() > 1) rest_.remove_prefix(1);
      text += rest_.front();
    }
    return std::nullopt;
  }
  // Up to `end`, which is taken as well; nullopt where it does not come.
  std::optional<std::string> until(char end) {
    const std::size_t at = rest_.find(end);
    if (at == std::string_view::npos) return std::nullopt;
    std::string text(rest_.substr(0, at));
    rest_.remove_prefix(at + 1);
    return text;
  }
  // The token before an equals sign, in lower case; "" where none begins here, and nothing is taken.
  std::string name() {
    const std::string_view before = rest_;
    std::string name = lower_case(token());
    if (!name.empty() && take_char('=')) return name;
    rest_ = before;
    return "";
  }

 private:
  void skip_blanks() {
    while (rest_.starts_with(' ') || rest_.starts_with('\t')) rest_.remove_prefix(1);
  }
  std::string_view rest_;
};

// The parameters of one challenge; the next begins with a token that no equals sign follows.
void read_challenge(HeaderWords& words, Challenge& challenge) {
  while (true) {
    while (words.take_char(',')) {
    }
    const std::string name = words.name();
    if (name.empty()) return;
    const std::optional<std::string> value = words.value();
    if (!value) return;
    if (name == "realm") challenge.realm = *value;
    if (name == "service") challenge.service = *value;
  }
}

// The first Bearer challenge of a header that may hold several (RFC 9110, 11.6.1).
std::optional<Challenge> bearer_in(std::string_view header) {
  HeaderWords words(header);
  while (!words.at_end()) {
    if (words.take_char(',')) continue;
    const std::string scheme = lower_case(words.token());
    if (scheme.empty()) {  // the rest of something else, such as YIIB+/==
      words.skip();
      continue;
    }
    Challenge challenge;
    challenge.is_bearer = true;
    read_challenge(words, challenge);
    if (scheme == "bearer") return challenge;
  }
  return std::nullopt;
}

bool has_word(std::string_view words, std::string_view wanted) {
  for (std::string_view word : split(words, ' '))
    if (lower_case(word) == wanted) return true;
  return false;
}

// The target of the first link of a header that is `relation` (RFC 8288, 3); "" for none.
std::string link_in(std::string_view header, std::string_view relation) {
  HeaderWords words(header);
  while (words.take_char('<')) {
    const std::optional<std::string> target = words.until('>');
    if (!target) return "";
    bool is_meant = false, has_relation = false;
    while (words.take_char(';')) {
      const std::string name = words.name();
      const std::optional<std::string> value = name.empty() ? words.token() : words.value();
      if (!value) return "";
      if (name != "rel" || has_relation) continue;  // of several the first counts
      has_relation = true;
      is_meant = has_word(*value, relation);
    }
    if (is_meant) return *target;
    while (words.take_char(',')) {
    }
  }
  return "";
}

// RFC 6750, 2.1: what may follow "Bearer ". Anything else would write headers of its own.
bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
}

Json document_in(const std::string& body, const std::string& url) {
  Json document = Json::parse(body, nullptr, false);
  if (!document.is_object())
    throw Error(ExitCode::network, fmt::format("{}: the answer is no JSON object", url));
  return document;
}

}  // namespace

bool is_full(const HttpAnswer& answer) {
  return answer.status == 507 || (answer.status >= 500 && contains(answer.body, "no space left on device"));
}

// one of its errors has it
static bool has_error_code(const HttpAnswer& answer, std::string_view code) {
  const std::vector<Said> errors = errors_in(answer.body);
  return std::ranges::any_of(errors, [&](const Said& said) { return said.code == code; });
}

bool has_empty_link(const HttpAnswer& answer) {
  return answer.status == 400 && has_error_code(answer, "DIGEST_INVALID") &&
         has_error_code(answer, "MANIFEST_BLOB_UNKNOWN");
}

bool passes(const HttpAnswer& answer) {
  return answer.status == 429 || has_empty_link(answer) ||
         (answer.status >= 500 && answer.status != 501 && !is_full(answer));
}

std::string said_by(const HttpAnswer& answer) {
  const Said said = first_error(answer.body);
  std::string text =
      fmt::format("{} {}", answer.status, said.code.empty() ? phrase(answer.status) : said.code);
  if (!said.message.empty()) text += ": " + said.message;
  return in_one_line(std::string(trimmed(text)));
}

std::string error_code_in(const HttpAnswer& answer) { return first_error(answer.body).code; }

Challenge challenge_in(const HttpAnswer& answer) {
  for (auto [at, end] = answer.headers.equal_range("www-authenticate"); at != end; ++at)
    if (auto bearer = bearer_in(at->second)) return *bearer;
  return {};
}

std::string basic_authorization(const Credentials& who) {
  return "Basic " + base64_of(who.user + ":" + who.password);
}

std::string token_in(const HttpAnswer& answer) {
  const Json document = Json::parse(answer.body, nullptr, false);
  std::string token;  // an empty "token" may stand beside an "access_token"
  if (document.is_object())
    for (const char* key : {"token", "access_token"})
      if (auto found = document.find(key); token.empty() && found != document.end() && found->is_string())
        token = found->get<std::string>();
  if (token.empty()) throw Error(ExitCode::network, "the registry's token server gave no token");
  if (!is_token(token))
    throw Error(ExitCode::network,
                "the registry's token server gave a token with blanks or control characters, which a header "
                "must not have");
  return token;
}

std::string in_query(std::string_view text) { return percent_encoded(text, "-._~"); }

std::optional<Digest> digest_in(const std::string& text) {
  constexpr std::string_view kName = "sha256:";
  if (!text.starts_with(kName) || text.size() != kName.size() + 64 ||
      text.find_first_not_of("0123456789abcdef", kName.size()) != std::string::npos)
    return std::nullopt;
  return Digest::parse(text);
}

std::string next_page(const HttpAnswer& answer) {
  for (auto [at, end] = answer.headers.equal_range("link"); at != end; ++at)
    if (std::string next = link_in(at->second, "next"); !next.empty()) return next;
  return "";
}

std::vector<std::string> tags_in(const std::string& body, const std::string& url) {
  const Json document = document_in(body, url);
  std::vector<std::string> tags;
  auto found = document.find("tags");  // null where there are none
  if (found == document.end() || !found->is_array()) return tags;
  for (const Json& tag : *found)
    if (tag.is_string()) tags.push_back(tag.get<std::string>());
  return tags;
}

}  // namespace kiln
