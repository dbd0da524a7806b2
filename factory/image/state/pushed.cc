#include "image/state/pushed.h"

#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/durable_file.h"
#include "base/effects.h"
#include "base/json.h"
#include "base/text.h"

namespace kiln {
namespace {

constexpr std::chrono::seconds kPatience{5};
constexpr std::size_t kMostOld = 1000;  // lines that later ones replace, before the file is written anew

std::string image_line(const std::string& image, const PushedRecord& record) {
  return Json{{"image", image}, {"sif", record.sif.text()}, {"signed", record.signed_by}}.dump() + "\n";
}

std::string tag_line(const std::string& tag, const Digest& digest) {
  return Json{{"tag", tag}, {"digest", digest.text()}}.dump() + "\n";
}

// nullopt: it is no digest, and no "".
std::optional<Digest> digest_at(const Json& line, const char* key) {
  auto found = line.find(key);
  if (found == line.end() || !found->is_string()) return std::nullopt;
  const auto text = found->get<std::string>();
  if (text.empty()) return Digest();
  try {
    return Digest::parse(text);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

PushedNames::PushedNames(const StatePaths& state) : file_(state.pushed()) {
  RealFileSystem files;
  const std::string text = files.read(file_).value_or("");
  for (std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    ++lines_;
    const Json read = Json::parse(line, nullptr, false);
    if (!read.is_object()) continue;  // cut by a kill: what it said is asked of the registry again
    if (auto image = read.find("image"); image != read.end() && image->is_string()) {
      auto by = read.find("signed");
      const bool is_signed = by != read.end() && by->is_string();
      if (auto sif = digest_at(read, "sif"))
        images_[image->get<std::string>()] = {*sif, is_signed ? by->get<std::string>() : ""};
    } else if (auto tag = read.find("tag"); tag != read.end() && tag->is_string()) {
      const auto digest = digest_at(read, "digest");
      if (digest && !digest->empty()) tags_[tag->get<std::string>()] = *digest;
    }
  }
  const std::size_t names = images_.size() + tags_.size();
  const bool cut = !text.empty() && !text.ends_with('\n');
  if (!cut && lines_ <= names + kMostOld) return;
  std::string anew;
  for (const auto& [image, record] : images_) anew += image_line(image, record);
  for (const auto& [tag, digest] : tags_) anew += tag_line(tag, digest);
  files.write(file_, anew);
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
  if (!lines_file_->append(line) || !lines_file_->sync()) fail_with_errno(errno, "writing", file_);
}

void PushedNames::put_image(const std::string& image, const PushedRecord& record) {
  append(image_line(image, record));
  images_[image] = record;
}

void PushedNames::put_tag(const std::string& tag, const Digest& digest) {
  append(tag_line(tag, digest));
  tags_[tag] = digest;
}

}  // namespace kiln
