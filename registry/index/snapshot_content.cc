#include "registry/index/snapshot_content.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "factory/base/digest.h"
#include "factory/base/json_put.h"
#include "registry/index/database.h"

namespace kiln {

namespace {

Json tag_json(const TagName& name, const Tagged& tagged) {
  Json tag{
      {"repository", name.first}, {"tag", name.second}, {"image", tagged.image}, {"stale", tagged.stale}};
  if (tagged.failing) tag["failing"] = true;
  put(tag, "retired", tagged.retired);
  put(tag, "matrices", tagged.matrices);
  return tag;
}

// As Json::dump() would write the whole, without keeping it.
std::string with_tags(const Json& head, const TagMap& tags) {
  std::string text = head.dump();
  text.back() = ',';
  text += "\"tags\":[";
  for (const auto& [name, tagged] : tags) text += tag_json(name, tagged).dump() + ",";
  if (!tags.empty()) text.pop_back();
  return text + "]}";
}

TagName name_from(const JsonNode& tag) { return {tag.at("repository").string(), tag.at("tag").string()}; }

Tagged tagged_from(const JsonNode& tag) {
  tag.allow_only({"repository", "tag", "image", "stale", "failing", "retired", "matrices"});
  Tagged tagged{Digest::from_hex(tag.at("image").string()).hex(), tag.at("stale").boolean()};
  if (auto failing = tag.find("failing")) tagged.failing = failing->boolean();
  if (auto retired = tag.find("retired")) tagged.retired = retired->string();
  if (auto matrices = tag.find("matrices")) tagged.matrices = matrices->strings();
  return tagged;
}

// As JSON it is itself, between quotes.
bool is_plain(std::string_view word) {
  return std::ranges::all_of(word, [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

// Of an array of plain words, as words_text() writes it; nullopt for any other JSON: thousands are read for
// one answer.
std::optional<std::vector<std::string>> plain_words(std::string_view text) {
  if (text.size() < 4 || !text.starts_with("[\"") || !text.ends_with("\"]")) return std::nullopt;
  text = text.substr(2, text.size() - 4);
  std::vector<std::string> words;
  for (bool more = true; more;) {
    const std::size_t end = text.find("\",\"");
    more = end != std::string_view::npos;
    const std::string_view word = text.substr(0, end);
    if (!is_plain(word)) return std::nullopt;
    words.emplace_back(word);
    if (more) text.remove_prefix(end + 3);
  }
  return words;
}

}  // namespace

JsonDocument parse_own(const std::string& text, const std::string& file) {
  JsonLimits limits;
  limits.bytes = kMostSnapshot;
  limits.members = 10'000'000;
  return JsonDocument::parse(text, file, limits);
}

TagName tag_name_of(const ImageRecord& image) {
  return {image.repository, image.external() ? image.code : image.tag};
}

std::string words_text(const std::vector<std::string>& words) {
  if (words.empty()) return "";
  if (!std::ranges::all_of(words, is_plain)) return Json(words).dump();
  std::string text = "[";
  for (const std::string& word : words) text += (text.size() > 1 ? ",\"" : "\"") + word + "\"";
  return text + "]";
}

std::vector<std::string> words_from(const std::string& text) {
  if (text.empty()) return {};
  if (auto words = plain_words(text)) return *std::move(words);
  try {
    return parse_own(text, "index.db").root().strings();
  } catch (const Error&) {
    throw DamagedDatabase("the index is damaged: a list of names cannot be read");
  }
}

std::string tag_checksum(const TagName& name, const Tagged& tagged) {
  return row_checksum("tag", {name.first, name.second, tagged.image, tagged.stale ? "1" : "0",
                              tagged.failing ? "1" : "0", tagged.retired, words_text(tagged.matrices)});
}

RowSum root_of(const TagMap& tags) {
  RowSum root;
  for (const auto& [name, tagged] : tags) root.add(tag_checksum(name, tagged));
  return root;
}

std::vector<TagChange> changes_between(const TagMap& before, const TagMap& after) {
  std::vector<TagChange> changes;
  auto old = before.begin();
  for (const auto& [name, tagged] : after) {
    for (; old != before.end() && old->first < name; ++old)
      changes.push_back({old->first, old->second, std::nullopt});
    const bool known = old != before.end() && old->first == name;
    if (!known) changes.push_back({name, std::nullopt, tagged});
    if (known && old->second != tagged) changes.push_back({name, old->second, tagged});
    if (known) ++old;
  }
  for (; old != before.end(); ++old) changes.push_back({old->first, old->second, std::nullopt});
  return changes;
}

std::string SnapshotSidecar::text() const {
  Json head{{"number", number}, {"created", created}, {"note", note}, {"root", root.text()}};
  if (parent != 0) {
    head["parent"] = parent;
    head["before"] = before.text();
    head["gone"] = Json::array();
    for (const auto& [repository, tag] : gone)
      head["gone"].push_back({{"repository", repository}, {"tag", tag}});
  }
  return with_tags(head, tags);
}

SnapshotSidecar SnapshotSidecar::in_full(const SnapshotContent& content) {
  return {content.number, content.created, content.note, 0, {}, root_of(content.tags), content.tags, {}};
}

SnapshotSidecar SnapshotSidecar::parse(const std::string& text, const std::string& file) {
  JsonDocument document = parse_own(text, file);
  JsonNode root = document.root();
  root.allow_only({"number", "created", "note", "parent", "before", "root", "tags", "gone"});
  SnapshotSidecar sidecar;
  sidecar.number = root.at("number").integer(1, INT64_MAX);
  sidecar.created = root.at("created").string();
  sidecar.note = root.at("note").string();
  for (const auto& tag : root.at("tags").items()) sidecar.tags[name_from(tag)] = tagged_from(tag);
  if (auto parent = root.find("parent")) {
    sidecar.parent = parent->integer(1, sidecar.number - 1);
    sidecar.before = RowSum::parse(root.at("before").string());
    sidecar.root = RowSum::parse(root.at("root").string());
    for (const auto& tag : root.at("gone").items()) sidecar.gone.push_back(name_from(tag));
  } else {
    sidecar.root = root_of(sidecar.tags);
    auto stated = root.find("root");
    if (stated && stated->string() != sidecar.root.text()) stated->fail("the tags have another root");
  }
  return sidecar;
}

std::string text_of_format_2(const SnapshotContent& content) {
  return with_tags({{"number", content.number}, {"created", content.created}, {"note", content.note}},
                   content.tags);
}

std::string row_checksum(std::string_view table, std::initializer_list<std::string_view> columns) {
  thread_local TextHasher hasher;
  thread_local std::string text;  // whose memory thousands of rows share
  text.assign(table);
  for (std::string_view column : columns) {
    text += '\n';
    text += std::to_string(column.size());
    text += ' ';
    text += column;
  }
  return hex_of(hasher.of(text));
}

RowSum::Limbs RowSum::limbs_of(std::string_view text) {
  Limbs limbs{};
  if (text.size() != limbs.size() * 8) throw DamagedDatabase("the index is damaged: a checksum is cut");
  for (std::size_t i = 0; i < limbs.size(); ++i) {
    const char* end = text.data() + text.size() - i * 8;
    auto [stop, error] = std::from_chars(end - 8, end, limbs.at(i), 16);
    if (stop != end || error != std::errc()) throw DamagedDatabase("the index is damaged: no checksum");
  }
  return limbs;
}

RowSum RowSum::parse(std::string_view text) {
  RowSum sum;
  sum.limbs_ = limbs_of(text);
  return sum;
}

void RowSum::add(std::string_view checksum) {
  const Limbs more = limbs_of(checksum);
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < limbs_.size(); ++i) {
    carry += std::uint64_t{limbs_.at(i)} + more.at(i);
    limbs_.at(i) = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
}

void RowSum::subtract(std::string_view checksum) {
  const Limbs less = limbs_of(checksum);
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; i < limbs_.size(); ++i) {
    const std::uint64_t difference = std::uint64_t{limbs_.at(i)} - less.at(i) - borrow;
    limbs_.at(i) = static_cast<std::uint32_t>(difference);
    borrow = difference >> 63;
  }
}

std::string RowSum::text() const {
  Sha256 bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes.at(bytes.size() - 1 - i) = static_cast<unsigned char>(limbs_.at(i / 4) >> (i % 4 * 8));
  return hex_of(bytes);
}

}  // namespace kiln
