#include "image/state/pushed.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/durable_file.h"
#include "base/effects.h"
#include "base/json.h"
#include "base/text.h"

namespace kiln {
namespace {

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

PushedNames::~PushedNames() {
  if (descriptor_ >= 0) ::close(descriptor_);
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
  if (descriptor_ < 0) {
    descriptor_ = ::open(file_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor_ < 0) fail_with_errno(errno, "opening", file_);
    sync_folder(file_.parent_path());
  }
  if (::write(descriptor_, line.data(), line.size()) != static_cast<ssize_t>(line.size()) ||
      ::fsync(descriptor_) != 0)
    fail_with_errno(errno, "writing", file_);
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
