#include "factory/state/pushed.h"

#include <cerrno>
#include <nlohmann/json.hpp>

#include "factory/base/effects.h"
#include "factory/base/json.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr std::chrono::seconds kPatience{5};
constexpr std::size_t kMostOld = 1000;  // lines that later ones replace, before the file is written anew

std::string image_line(const std::string& image, const PushedRecord& record) {
  Json line = {{"image", image}};
  if (record.is_index) {
    line["index"] = true;
  } else {
    line["sif"] = record.sif.text();
    line["signed"] = record.signed_by;
    line["immutable"] = record.immutable_tag;
    line["with"] = Json::array();
    for (const Digest& referrer : record.referrers) line["with"].push_back(referrer.text());
    if (record.listed_by_tag) line["list"] = true;
  }
  if (record.going) line["going"] = true;
  return line.dump() + "\n";
}

std::string tag_line(const std::string& tag, const Digest& digest) {
  return Json{{"tag", tag}, {"digest", digest.text()}}.dump() + "\n";
}

std::string look_line(const std::string& registry, std::size_t part, std::int64_t time) {
  return Json{{"registry", registry}, {"part", part}, {"looked", time}}.dump() + "\n";
}

// nullopt: it is no digest, and no "".
std::optional<Digest> digest_of(const Json& value) {
  if (!value.is_string()) return std::nullopt;
  const auto text = value.get<std::string>();
  if (text.empty()) return Digest();
  return unless_error([&] { return std::optional(Digest::parse(text)); });
}

std::string text_at(const Json& line, const char* key) {
  auto found = line.find(key);
  return found != line.end() && found->is_string() ? found->get<std::string>() : "";
}

// "registry.site/ai/hello@sha256:…"
bool names_an_image(const std::string& name) {
  const std::size_t at = name.rfind('@');
  return at != name.npos && name.find('/') < at && digest_of(name.substr(at + 1)).has_value();
}

// "registry.site:5000/ai/hello:2.10-…"
bool names_a_tag(const std::string& name) {
  const std::size_t slash = name.find('/');
  return slash != name.npos && name.find(':', slash) != name.npos;
}

// nullopt: it is no such line.
std::optional<PushedRecord> record_in(const Json& line) {
  PushedRecord record;
  record.is_index = line.value("index", Json()) == Json(true);
  record.going = line.value("going", Json()) == Json(true);
  record.listed_by_tag = line.value("list", Json()) == Json(true);
  if (record.is_index) return record;
  const auto sif = digest_of(line.value("sif", Json()));
  if (!sif) return std::nullopt;
  record.sif = *sif;
  record.signed_by = text_at(line, "signed");
  record.immutable_tag = text_at(line, "immutable");
  for (const Json& referrer : line.value("with", Json::array()))
    if (auto digest = digest_of(referrer); digest && !digest->empty()) record.referrers.push_back(*digest);
  return record;
}

}  // namespace

PushedNames::PushedNames(const StatePaths& state, AsItIs /*unused*/) : file_(state.pushed()) {
  const std::string text = RealFileSystem().read(file_).value_or("");
  cut_ = !text.empty() && !text.ends_with('\n');
  for (std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    ++lines_;
    const Json read = Json::parse(line, nullptr, false);
    if (!read.is_object()) continue;  // cut by a kill: what it said is asked of the registry again
    if (const std::string image = text_at(read, "image"); !image.empty()) {
      if (auto record = record_in(read); record && names_an_image(image)) images_[image] = *std::move(record);
    } else if (const std::string tag = text_at(read, "tag"); !tag.empty()) {
      const auto digest = digest_of(read.value("digest", Json()));
      if (digest && !digest->empty() && names_a_tag(tag)) tags_[tag] = *digest;
    } else if (const std::string gone = text_at(read, "gone"); !gone.empty()) {
      images_.erase(gone);
      tags_.erase(gone);
    } else if (const std::string registry = text_at(read, "registry"); !registry.empty()) {
      const Json part = read.value("part", Json()), time = read.value("looked", Json());
      if (part.is_number_unsigned() && part.get<std::uint64_t>() < kLookParts && time.is_number_integer())
        looks_[registry].at(part.get<std::size_t>()) = time.get<std::int64_t>();
    }
  }
}

PushedNames PushedNames::reading(const StatePaths& state) { return PushedNames(state, AsItIs{}); }

PushedNames::PushedNames(const StatePaths& state) : PushedNames(state, AsItIs{}) {
  if (cut_ || lines_ > images_.size() + tags_.size() + kLookParts * looks_.size() + kMostOld) write_anew();
}

void PushedNames::write_anew() const {
  std::string anew;
  for (const auto& [image, record] : images_) anew += image_line(image, record);
  for (const auto& [tag, digest] : tags_) anew += tag_line(tag, digest);
  for (const auto& [registry, times] : looks_)
    for (std::size_t part = 0; part < kLookParts; ++part)
      if (times.at(part) != 0) anew += look_line(registry, part, times.at(part));
  RealFileSystem().write(file_, anew);
}

std::optional<PushedRecord> PushedNames::image(const std::string& image) const {
  auto found = images_.find(image);
  return found == images_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Digest> PushedNames::tag(const std::string& tag) const {
  auto found = tags_.find(tag);
  return found == tags_.end() ? std::nullopt : std::optional(found->second);
}

void PushedNames::append(const std::string& line) {
  if (!lines_file_) {
    lines_file_.emplace(file_, kPatience);
    if (!lines_file_->is_open()) {
      const int why = errno;
      lines_file_.reset();
      fail_with_errno(why, "opening", file_);
    }
    sync_folder(file_.parent_path());
  }
  if (!lines_file_->append(line) || !lines_file_->sync()) fail_with_errno(errno, "write", file_);
}

void PushedNames::put_image(const std::string& image, const PushedRecord& record) {
  append(image_line(image, record));
  images_[image] = record;
}

void PushedNames::put_tag(const std::string& tag, const Digest& digest) {
  append(tag_line(tag, digest));
  tags_[tag] = digest;
}

LookTimes PushedNames::looked(const std::string& registry) const {
  auto found = looks_.find(registry);
  return found == looks_.end() ? LookTimes{} : found->second;
}

void PushedNames::put_look(const std::string& registry, std::size_t part, std::int64_t time) {
  append(look_line(registry, part, time));
  looks_[registry].at(part) = time;
}

void PushedNames::forget(const std::string& name) {
  append(Json{{"gone", name}}.dump() + "\n");
  images_.erase(name);
  tags_.erase(name);
}

}  // namespace kiln
