// A real index of which bytes are others: a reader answers what it answered before, or says that it is
// damaged.
#include "registry/index/index.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "readers.h"

namespace kiln::fuzz {
namespace {

std::string text_of(const std::vector<IndexEntry>& entries) {
  std::string text;
  for (const IndexEntry& entry : entries) {
    text += to_json(entry.image).dump() + (entry.stale ? " stale " : " ") + entry.retired + "\n";
    for (const Measurement& measurement : entry.measurements) text += to_json(measurement).dump() + "\n";
  }
  return text;
}

// Gone with the process, unless that crashes: then it is what shows why.
class DamagedIndex {
 public:
  DamagedIndex() {
    std::string name = (fs::temp_directory_path() / "kiln-fuzz-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) __builtin_trap();
    folder_ = name;
    fill();
    file_ = ::open((folder_ / "index.db").c_str(), O_RDWR | O_CLOEXEC);
    size_ = fs::file_size(folder_ / "index.db");
    for (std::uint8_t question = 0; question < kQuestions; ++question) whole_.push_back(answer(question));
  }
  ~DamagedIndex() {
    ::close(file_);
    fs::remove_all(folder_);
  }

  // Four bytes say where, one what is turned over there.
  void damage(const std::uint8_t* edits, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint8_t* edit = edits + i * 5;
      const std::size_t at =
          (std::size_t{edit[0]} << 24 | std::size_t{edit[1]} << 16 | std::size_t{edit[2]} << 8 | edit[3]) %
          size_;
      unsigned char byte = 0;
      if (::pread(file_, &byte, 1, static_cast<off_t>(at)) != 1) __builtin_trap();
      byte = static_cast<unsigned char>(byte ^ edit[4]);
      if (::pwrite(file_, &byte, 1, static_cast<off_t>(at)) != 1) __builtin_trap();
    }
  }

  void check(std::uint8_t question) const {
    try {
      if (answer(question) != whole_[question % kQuestions]) __builtin_trap();
    } catch (const Error& error) {
      if (error.code() != ExitCode::store && error.code() != ExitCode::locked) __builtin_trap();
    }
  }

 private:
  static constexpr std::uint8_t kQuestions = 4;

  std::string answer(std::uint8_t question) const {
    const Index index = Index::open(folder_, Index::Mode::read);
    switch (question % kQuestions) {
      case 0:
        return text_of(index.entries());
      case 1:
        return text_of(index.entries_of("openmpi"));
      case 2:
        return text_of(index.entries_of("pytorch", 1));
      default: {
        std::string text;
        for (const auto& [application, images] : index.applications())
          text += application + " " + std::to_string(images) + "\n";
        for (const std::string& compiler : index.compilers()) text += compiler + "\n";
        for (const Snapshot& snapshot : index.snapshots()) text += snapshot.note + "\n";
        return text;
      }
    }
  }

  void fill() {
    Index index = Index::open(folder_, Index::Mode::write);
    const BlobStore store(folder_ / "store");
    std::vector<ImageRecord> images;
    for (int i = 0; i < 12; ++i) {
      Manifest manifest;
      manifest.config = store.put("{}", std::string(media_type::kConfig));
      manifest.layers = {store.put(std::to_string(i), std::string(media_type::kLayerZstd))};
      ImageRecord image;
      image.manifest = store.put(to_json(manifest).dump(), std::string(media_type::kManifest)).digest;
      image.application = image.repository = i % 2 == 0 ? "pytorch" : "openmpi";
      image.tag = "tag-" + std::to_string(i);
      image.key = std::string(64, "0123456789ab"[i]);
      image.components = {{"compiler", "xla", {}, "", false}};
      images.push_back(image);
    }
    index.publish(images, {}, "2026-11-20T10:00:00Z", "night");
    Measurement measurement;
    measurement.image = images[0].manifest;
    measurement.workload = "mnist-cnn";
    measurement.unit = "ms/step";
    measurement.median = 5;
    index.record(measurement);
    index.publish({}, {images[1].name()}, "2026-11-21T10:00:00Z", "night");
    index.retire({images[2].manifest}, "wrong", "2026-11-21T10:00:00Z");
  }

  fs::path folder_;
  int file_ = -1;
  std::size_t size_ = 0;
  std::vector<std::string> whole_;
};

}  // namespace
}  // namespace kiln::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static kiln::fuzz::DamagedIndex index;
  if (size == 0) return 0;
  const std::size_t edits = (size - 1) / 5;
  index.damage(bytes + 1, edits);
  index.check(bytes[0]);
  index.damage(bytes + 1, edits);  // turns them back
  return 0;
}
