#include "registry/serve/tokens.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>

#include "factory/base/digest.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr std::string_view kScheme = "sha256:";
constexpr std::string_view kBegin = "kiln_";
constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kHexDigits = 64;
constexpr std::uint64_t kMostTokenFile = 1u << 20;

bool is_token_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
    return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-' || c == '@';
  });
}

std::string sum_of_line(std::string_view line, const SourceLocation& where) {
  const std::size_t blank = line.find(' ');
  const std::string_view sum = line.substr(0, blank);
  if (!sum.starts_with(kScheme) || sum.size() != kScheme.size() + kHexDigits ||
      !is_hex(sum.substr(kScheme.size())) || blank == line.npos ||
      !is_token_name(trimmed(line.substr(blank))))
    throw Error(ExitCode::input, where, "expected `sha256:<64 hex digits> <name>`",
                "`kiln serve token` writes such lines");
  return std::string(sum.substr(kScheme.size()));
}

// Every byte is looked at, whatever the first ones are.
bool equal_sums(const std::string& left, const std::string& right) {
  unsigned differ = 0;
  for (std::size_t i = 0; i < kHexDigits; ++i)
    differ |= static_cast<unsigned char>(left[i]) ^ static_cast<unsigned char>(right[i]);
  return differ == 0;
}

}  // namespace

TokenBook TokenBook::read(const FileSystem& files, const fs::path& file) {
  const auto text = files.read(file, kMostTokenFile);
  if (!text)
    throw Error(ExitCode::input, fmt::format("there is no file '{}'", file.string()),
                fmt::format("`kiln serve token --tokens {}` makes it with a first token", file.string()));
  struct stat found {};
  if (::stat(file.c_str(), &found) == 0 && (found.st_mode & S_IWOTH) != 0)
    throw Error(ExitCode::input, fmt::format("every user may write {}, and so add tokens", file.string()),
                fmt::format("run chmod o-w {}", file.string()));
  return parse(*text, file.string());
}

TokenBook TokenBook::parse(std::string_view text, const std::string& file) {
  TokenBook book;
  int number = 0;
  for (std::string_view raw : split(text, '\n')) {
    ++number;
    const std::string_view line = trimmed(raw);
    if (line.empty() || line.front() == '#') continue;
    book.sums_.push_back(sum_of_line(line, {file, number, 1, ""}));
  }
  return book;
}

bool TokenBook::knows(std::string_view token) const {
  const std::string sum = Digest::of(token).hex();
  bool known = false;
  for (const std::string& stored : sums_) known |= equal_sums(sum, stored);
  return known;
}

NewToken make_token(const std::string& name) {
  if (!is_token_name(name))
    throw Error(ExitCode::usage, fmt::format("invalid token name '{}'", name),
                "letters, digits and . _ - @, at most 64");
  Sha256 secret{};
  static_assert(sizeof secret == kSecretBytes);
  if (::getrandom(secret.data(), secret.size(), 0) != static_cast<ssize_t>(secret.size()))
    throw Error(ExitCode::store, "the system returned no random bytes");
  NewToken made{std::string(kBegin) + hex_of(secret), ""};
  made.line = fmt::format("{}{} {}\n", kScheme, Digest::of(made.token).hex(), name);
  return made;
}

bool WrongTokens::count(const std::string& address, double now) {
  const std::lock_guard held(lock_);
  const double past = now - static_cast<double>(kWhile.count());
  if (seen_.size() >= kMostAddresses)
    std::erase_if(seen_, [&](const auto& one) { return one.second.since < past; });
  if (seen_.size() >= kMostAddresses && !seen_.contains(address)) return true;
  Seen& seen = seen_[address];
  if (seen.times == 0 || seen.since < past) seen = {now, 0};
  return ++seen.times > kMost;
}

}  // namespace kiln
