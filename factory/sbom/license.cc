#include <fmt/format.h>

#include <array>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>

#include "factory/base/digest.h"
#include "factory/base/json.h"
#include "factory/base/text.h"
#include "factory/sbom/package.h"

namespace kiln {
std::map<std::string_view, std::string_view> embedded_licenses();
}

namespace kiln::sbom {
namespace {

constexpr std::size_t kMostName = 100;               // bytes of a licence's name; more is a licence's text
constexpr std::size_t kMostExpression = 4096;        // bytes of an expression
constexpr std::size_t kMostLicenseText = 64u << 10;  // bytes kept of a licence's text
constexpr unsigned kMostDepth = 32;                  // of parentheses

// The embedded licenses.json.
struct LicenseList {
  std::string version;
  std::map<std::string, std::string> licenses;    // lower case → id
  std::map<std::string, std::string> exceptions;  // lower case → id

  static const LicenseList& get() {
    static const LicenseList list = read();
    return list;
  }

  static LicenseList read() {
    LicenseList list;
    JsonNode root = JsonDocument::parse(embedded_licenses().at("licenses.json"), "licenses.json").root();
    list.version = root.at("list").string();
    for (const auto& [name, id] : root.at("aliases").members()) list.licenses[name] = id.string();
    for (const std::string& id : root.at("ids").strings()) list.licenses.try_emplace(lower_case(id), id);
    for (const auto& [name, id] : root.at("exception_aliases").members()) list.exceptions[name] = id.string();
    for (const std::string& id : root.at("exceptions").strings())
      list.exceptions.try_emplace(lower_case(id), id);
    return list;
  }
};

std::optional<std::string> find(const std::map<std::string, std::string>& names, std::string_view name) {
  auto found = names.find(lower_case(name));
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

// "LicenseRef-Permissive"; where letters get lost, a hash keeps different names apart.
std::string reference_of(std::string_view written) {
  std::string slug;
  for (char c : written.substr(0, 60)) {
    bool plain = is_letter_or_digit(c) || c == '.' || c == '-';
    if (plain || (!slug.empty() && slug.back() != '-')) slug += plain ? c : '-';
  }
  while (slug.ends_with('-')) slug.pop_back();
  if (slug != written) slug += (slug.empty() ? "" : "-") + Digest::of(written).hex().substr(0, 8);
  return "LicenseRef-" + slug;
}

License unknown(std::string_view written) {
  std::string reference = reference_of(written);
  return {reference, {{reference, std::string(written.substr(0, kMostLicenseText))}}};
}

enum class Joint { none, both, either };  // what holds an expression's parts together

struct Part {
  License license;
  Joint joint = Joint::none;
};

std::string enclosed(const Part& part, Joint within) {
  bool loose = part.joint != Joint::none && part.joint != within;
  return loose ? "(" + part.license.expression + ")" : part.license.expression;
}

Part joined(const std::vector<Part>& parts, Joint joint) {
  if (parts.size() == 1) return parts.front();
  Part all{{}, joint};
  std::vector<std::string> seen;
  for (const Part& part : parts) {
    std::string text = enclosed(part, joint);
    all.license.extracted.insert(part.license.extracted.begin(), part.license.extracted.end());
    if (!contains(seen, text)) seen.push_back(text);
  }
  if (seen.size() == 1) return parts.front();
  all.license.expression = kiln::joined(seen, joint == Joint::both ? " AND " : " OR ");
  return all;
}

struct NotAnExpression : std::exception {};

// expression = either {"," ["and" | "or"] either};  either = both {"or" both};  both = term {"and" term};
// term = "(" expression ")" | name ["with" exception], where names may be several words.
class ExpressionReader {
 public:
  explicit ExpressionReader(std::string_view text) { split(text); }

  License read() {
    Part part = expression(0);
    if (at_ != words_.size()) throw NotAnExpression{};
    return part.license;
  }

 private:
  void split(std::string_view text) {
    std::string word;
    auto end = [&] {
      if (!word.empty()) words_.push_back(word);
      word.clear();
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
      char c = text[i];
      if (c == '(' || c == ')' || c == ',') {
        end();
        words_.emplace_back(1, c);
      } else if (contains(kWhiteSpace, c)) {
        end();
      } else {
        word += c;
      }
    }
    end();
  }

  bool is(std::string_view word) const { return at_ < words_.size() && lower_case(words_[at_]) == word; }
  bool take(std::string_view word) {
    bool found = is(word);
    at_ += found ? 1 : 0;
    return found;
  }

  Part expression(unsigned depth) {
    if (depth > kMostDepth) throw NotAnExpression{};
    std::vector<Part> parts{either(depth)};
    Joint joint = Joint::both;
    while (take(",")) {
      joint = take("or") ? Joint::either : (take("and"), Joint::both);
      parts.push_back(either(depth));
      // "a, b, or c" is not for us to take apart.
      if (parts.size() > 2 && joint == Joint::either) throw NotAnExpression{};
    }
    return joined(parts, joint);
  }

  Part either(unsigned depth) {
    std::vector<Part> parts{both(depth)};
    while (take("or")) parts.push_back(both(depth));
    return joined(parts, Joint::either);
  }

  Part both(unsigned depth) {
    std::vector<Part> parts{term(depth)};
    while (take("and") || take("&")) parts.push_back(term(depth));
    return joined(parts, Joint::both);
  }

  Part term(unsigned depth) {
    if (take("(")) {
      Part inner = expression(depth + 1);
      if (!take(")")) throw NotAnExpression{};
      return inner;
    }
    std::string name = words();
    Part part{named(name), Joint::none};
    if (take("with")) part.license = excepted(part.license, name, words());
    return part;
  }

  std::string words() {
    std::string text;
    static constexpr std::array<std::string_view, 7> kEnds = {"and", "or", "with", "&", "(", ")", ","};
    while (at_ < words_.size() && !contains(kEnds, lower_case(words_[at_])))
      text += (text.empty() ? "" : " ") + words_[at_++];
    if (text.empty() || text.size() > kMostName) throw NotAnExpression{};
    return text;
  }

  static License named(const std::string& name) {
    if (auto id = find(LicenseList::get().licenses, name)) return {*id, {}};
    // "MPL-2.0+": later versions, too; the GNU licences have names of their own for that.
    if (name.ends_with('+'))
      if (auto id = find(LicenseList::get().licenses, std::string_view(name).substr(0, name.size() - 1)))
        return {*id + "+", {}};
    return unknown(name);
  }

  // An exception that the list does not have leaves a licence of its own: it may change everything.
  static License excepted(const License& license, const std::string& name, const std::string& exception) {
    std::string_view plain = exception;
    if (lower_case(plain).ends_with(" exception")) plain.remove_suffix(10);
    auto id = find(LicenseList::get().exceptions, exception);
    if (!id) id = find(LicenseList::get().exceptions, plain);
    if (!id || !license.on_the_list()) return unknown(name + " with " + exception);
    return {license.expression + " WITH " + *id, {}};
  }

  std::vector<std::string> words_;
  std::size_t at_ = 0;
};

}  // namespace

License read_license(std::string_view written) {
  std::string_view text = trimmed(written);
  std::string low = lower_case(text);
  if (text.empty() || low == "unknown" || low == "none" || low == "noassertion") return {};
  if (auto id = find(LicenseList::get().licenses, text)) return {*id, {}};
  if (contains(text, '\n') && text.find('\n') <= kMostName) {
    // A licence's text that begins with its name.
    if (auto id = find(LicenseList::get().licenses, trimmed(text.substr(0, text.find('\n')))))
      return {*id, {}};
  }
  if (text.size() > kMostExpression || contains(text, '\n')) return unknown(text);
  try {
    return ExpressionReader(text).read();
  } catch (const NotAnExpression&) {
    return unknown(text);
  }
}

License all_of(std::vector<License> licenses) {
  std::map<std::string, std::string> terms;  // as a part of an AND → alone
  License all;
  for (License& license : licenses) {
    if (license.empty()) continue;
    bool choice = contains(license.expression, " OR ");
    all.extracted.merge(license.extracted);
    terms.emplace(choice ? "(" + license.expression + ")" : license.expression, license.expression);
  }
  if (terms.size() == 1) {
    all.expression = terms.begin()->second;
    return all;
  }
  for (const auto& [term, alone] : terms) all.expression += (all.expression.empty() ? "" : " AND ") + term;
  return all;
}

std::string_view license_list_version() { return LicenseList::get().version; }

}  // namespace kiln::sbom
