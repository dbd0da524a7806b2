#include "factory/cli/image_name.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "factory/cli/invocation.h"
#include "factory/oci/blob_store.h"
#include "factory/record/image_blobs.h"
#include "factory/state/record_store.h"

namespace kiln {
namespace {

constexpr std::uint64_t kMostDocument = 256u << 20;

bool is_called(const ImageRecord& record, const std::string& name) {
  return record.name() == name || record.repository + ":" + record.immutable_tag == name ||
         record.manifest.text() == name || record.cell == name;
}

constexpr const char* kHowImagesAreNamed =
    "an image is a tag of the index (`kiln index list`), oci:DIR[:TAG], oci-archive:FILE, "
    "docker-archive:FILE or docker://REFERENCE";

// "pytorch" when the index has pytorch:2.6.0-…, or a word that is misspelt.
std::string near_names(const std::string& text, const std::vector<std::string>& names) {
  std::vector<std::string> longer;
  for (const std::string& name : names)
    if (name.starts_with(text)) longer.push_back(name);
  if (longer.empty()) return did_you_mean(text, names);
  std::size_t shown = std::min<std::size_t>(longer.size(), 3);
  std::string more = longer.size() > shown ? fmt::format(" and {} more", longer.size() - shown) : "";
  return fmt::format("it has {}{}",
                     fmt::join(longer.begin(), longer.begin() + static_cast<long>(shown), ", "), more);
}

// Of the index; none without an index.
std::vector<std::string> image_names(Invocation& invocation) {
  std::vector<std::string> names;
  if (invocation.has_index())
    for (const IndexEntry& entry : invocation.index(Index::Mode::read).entries())
      names.push_back(entry.image.name());
  return names;
}

[[noreturn]] void unknown_image(const std::string& text, Invocation& invocation) {
  std::vector<std::string> names = image_names(invocation);
  std::string near = near_names(text, names);
  throw Error(ExitCode::no_match,
              names.empty() ? fmt::format("there is no image '{}': no index with images is in {}", text,
                                          invocation.state().root().string())
                            : fmt::format("the index has no image '{}'", text),
              near.empty() ? kHowImagesAreNamed : near + "; " + kHowImagesAreNamed);
}

}  // namespace

std::optional<ImageRecord> find_record(const std::string& name, Invocation& invocation) {
  if (invocation.has_index())
    for (const IndexEntry& entry : invocation.index(Index::Mode::read).entries())
      if (is_called(entry.image, name)) return entry.image;
  const StatePaths state = invocation.state();
  return RecordReader(state, invocation.files).find_image([&](const ImageRecord& image) {
    return is_called(image, name);
  });
}

std::optional<std::string> read_attachment(const ImageRecord& record, const std::string& kind,
                                           Invocation& invocation) {
  const Attachment* attachment = record.attachment(kind);
  if (attachment == nullptr) return std::nullopt;
  return BlobStore(invocation.state().store()).read(attachment->blob.digest, kMostDocument);
}

ImageName name_of(const std::string& text, Invocation& invocation) {
  if (text.starts_with("docker:") || text.starts_with("oci:") || text.find("-archive:") != std::string::npos)
    return parse_image_name(text);
  if (auto record = find_record(text, invocation); record && !record->layout.empty()) {
    check_layout(invocation.state().root(), *record);
    invocation.image_read = *record;
    return {"oci", (invocation.state().root() / record->layout).string(), ""};
  }
  if (text.find("://") != std::string::npos) return parse_image_name(text);
  unknown_image(text, invocation);
}

Error explained(const Error& error, const Invocation& invocation) {
  const auto& image = invocation.image_read;
  if (error.code() != ExitCode::input || !image) return error;
  const BlobStore store = BlobStore::reading(invocation.state().store());
  for (ImageBlob& blob : blobs_of(*image, store)) {
    if (blob.damage.empty()) blob.damage = read_damage(store, blob.digest, blob.size);
    if (!blob.damage.empty()) return damage_error(*image, blob);
  }
  return error;
}

void need_source(const ImageName& name, const Invocation& invocation) {
  if (name.transport == "docker") return;
  if (name.transport != "oci") return invocation.need_file(name.path);
  if (!invocation.files.is_directory(name.path))
    throw Error(ExitCode::input, fmt::format("there is no folder '{}'", name.path));
}

ProgressBar::ProgressBar(Invocation& invocation, double start) : invocation_(invocation), start_(start) {
  const std::string& style = invocation.options.progress;
  shown_ = !invocation.options.quiet && (style == "tty" || (style == "auto" && ::isatty(STDERR_FILENO) == 1));
}

ProgressBar::~ProgressBar() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

void ProgressBar::show(std::uint64_t done, std::uint64_t all) {
  double now = invocation_.clock.monotonic_seconds();
  if (!shown_ || now - last_ < 0.1) return;
  last_ = now;
  double part = all == 0 ? 1 : static_cast<double>(done) / static_cast<double>(all);
  auto filled = static_cast<std::size_t>(part * 30);
  fmt::print(stderr, "\r[{}{}] {:3.0f} %  {} of {} MB  {:.0f} s\x1b[K", std::string(filled, '#'),
             std::string(30 - std::min<std::size_t>(filled, 30), '.'), part * 100, done / 1'000'000,
             all / 1'000'000, now - start_);
}

}  // namespace kiln
