#include "factory/sif/sif_build.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <random>

#include "factory/sif/oci_runtime.h"
#include "factory/sif/sif_format.h"
#include "factory/sif/sif_reader.h"
#include "factory/sif/squashfs_reader.h"

namespace kiln::sif {
namespace {

// Version 4: random, or made of what decides the bits.
std::array<unsigned char, 16> make_uuid(const SourceImage& image, const SifOptions& options) {
  std::array<unsigned char, 16> uuid{};
  if (options.reproducible) {
    Digest seed =
        Digest::of(fmt::format("{} {} {} {} {}", image.digest().text(), options.squashfs.compression,
                               options.squashfs.level, options.squashfs.block_size, options.now));
    for (std::size_t i = 0; i < uuid.size(); ++i)
      uuid[i] = static_cast<unsigned char>(std::stoi(seed.hex().substr(2 * i, 2), nullptr, 16));
  } else {
    std::random_device random;
    for (unsigned char& byte : uuid) byte = static_cast<unsigned char>(random());
  }
  uuid[6] = static_cast<unsigned char>((uuid[6] & 0x0f) | 0x40);
  uuid[8] = static_cast<unsigned char>((uuid[8] & 0x3f) | 0x80);
  return uuid;
}

RuntimeOptions runtime_options(const SourceImage& image, const SifOptions& options) {
  const ImageName& name = image.name();
  RuntimeOptions runtime;
  runtime.bootstrap = name.transport;
  runtime.from = options.reproducible ? fs::path(name.path).filename().string() : name.path;
  if (!name.tag.empty()) runtime.from += ":" + name.tag;
  for (char& c : runtime.from)  // the definition file has one line for it
    if (static_cast<unsigned char>(c) < 0x20) c = '?';
  runtime.tool = options.tool;
  runtime.build_time = options.now;
  return runtime;
}

// The objects in front of the partition, in Apptainer's order.
std::vector<std::pair<SifObject, std::string>> small_objects(const SourceImage& image,
                                                             const RuntimeOptions& runtime) {
  SifObject definition;
  definition.type = SifType::definition_file;
  SifObject inspect;
  inspect.type = SifType::json;
  inspect.name = "inspect-metadata.json";
  SifObject config;
  config.type = SifType::json;
  config.name = "oci-config.json";
  return {{definition, definition_file(runtime)},
          {inspect, inspect_metadata(image.config(), runtime)},
          {config, image.runtime_config()}};
}

std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kSifPartitionAlignment - 1) / kSifPartitionAlignment * kSifPartitionAlignment;
}

// Lays objects one behind the other and writes the tables at the end.
class SifWriter {
 public:
  SifWriter(OutputFile& file, std::string arch, std::int64_t time)
      : file_(file), arch_(std::move(arch)), time_(time) {}

  void add(SifObject object, std::string_view bytes) {
    file_.write_at(end_, bytes);
    append(std::move(object), end_, bytes.size());
  }
  std::uint64_t partition_offset() const { return aligned(end_); }
  void add_partition(std::uint64_t size) {
    SifObject partition;
    partition.type = SifType::partition;
    partition.extra = partition_extra(SifFileSystem::squashfs, SifPartition::primary_system, arch_);
    append(std::move(partition), partition_offset(), size);
  }

  void finish(const std::array<unsigned char, 16>& uuid) {
    std::string table;
    for (const SifObject& object : objects_) table += encode(object);
    table.resize(kSifDescriptors * kSifDescriptorSize, '\0');
    file_.write_at(kSifDescriptorOffset, table);
    SifHeader header;
    header.launch = kSifLaunch;
    header.arch = arch_;
    header.uuid = uuid;
    header.created = header.modified = time_;
    header.total = kSifDescriptors;
    header.free = kSifDescriptors - objects_.size();
    header.descriptor_offset = kSifDescriptorOffset;
    header.descriptor_length = kSifDescriptors * kSifDescriptorSize;
    header.data_offset = kSifDataOffset;
    header.data_length = end_ - kSifDataOffset;
    file_.write_at(0, encode(header));
  }

 private:
  void append(SifObject object, std::uint64_t offset, std::uint64_t size) {
    object.id = static_cast<std::uint32_t>(objects_.size() + 1);
    object.offset = offset;
    object.size = size;
    object.stored = offset + size - end_;
    object.created = object.modified = time_;
    objects_.push_back(std::move(object));
    end_ = offset + size;
  }

  OutputFile& file_;
  std::string arch_;
  std::int64_t time_;
  std::vector<SifObject> objects_;
  std::uint64_t end_ = kSifDataOffset;
};

// Tells how far the layers are read, each time a file's content begins, and looks at what they make.
class WatchedSink final : public ContentSink {
 public:
  WatchedSink(ContentSink& sink, std::function<void()> watch, std::function<void()> check)
      : sink_(sink), watch_(std::move(watch)), check_(std::move(check)) {}
  std::uint32_t begin_file() override {
    watch_();
    return sink_.begin_file();
  }
  void append(std::string_view bytes) override {
    check_();
    sink_.append(bytes);
  }
  void end_file() override { sink_.end_file(); }

 private:
  ContentSink& sink_;
  std::function<void()> watch_, check_;
};

// In terms of the whole image, so that it is refused always or never, however far the threads are.
void check_size(std::uint64_t written, std::uint64_t compressed, const SifOptions& options) {
  if (written <= options.written_from ||
      (written - options.written_from) / options.written_ratio <= compressed)
    return;
  throw Error(ExitCode::input,
              fmt::format("the image's {} bytes of layers make a SIF of over {} bytes: a decompression bomb",
                          compressed, options.written_from + options.written_ratio * compressed));
}

// The threads made meanwhile compute for long and hand on much: with longer turns they take less CPU time.
class LongTurns {
 public:
  LongTurns() : changed_(::sched_getscheduler(0) == SCHED_OTHER && set(SCHED_BATCH)) {}
  ~LongTurns() {
    if (changed_) set(SCHED_OTHER);
  }
  LongTurns(const LongTurns&) = delete;
  LongTurns& operator=(const LongTurns&) = delete;

 private:
  static bool set(int policy) {
    sched_param parameters{};
    return ::sched_setscheduler(0, policy, &parameters) == 0;
  }
  bool changed_;
};

// A bad disk, bad memory or a fault of libsquashfs must not pass for an image.
void check_written(const fs::path& file, const SquashfsTotals& written, unsigned jobs) {
  try {
    if (check_sif(ReadOnlyFile(file), jobs) == written) return;
  } catch (const Error& error) {
    if (error.code() == ExitCode::interrupted) throw;
    throw Error(ExitCode::store, "the SIF that was written does not read back: " + error.message(),
                "a disk, the memory or libsquashfs is at fault; nothing was published");
  }
  throw Error(ExitCode::store, "the SIF that was written reads back with other contents",
              "a disk, the memory or libsquashfs is at fault; nothing was published");
}

}  // namespace

SquashfsTotals check_sif(const ReadOnlyFile& file, unsigned jobs) {
  SifFile sif = read_sif(file);
  check_primary_partition(file, sif);
  const SifObject& primary = sif.primary();
  if (primary.file_system() != SifFileSystem::squashfs) return {};
  return read_squashfs(file, primary.offset, primary.size, jobs);
}

SifResult build_sif(const SourceImage& image, const fs::path& output, const SifOptions& options) {
  LongTurns turns;
  RuntimeOptions runtime = runtime_options(image, options);
  OutputFile file(output);
  SifWriter sif(file, sif_arch_code(image.config().architecture), options.now);
  for (auto& [object, bytes] : small_objects(image, runtime)) sif.add(std::move(object), bytes);

  SquashfsOptions inside = options.squashfs;
  inside.sums = options.check;
  SquashfsWriter squashfs(file, sif.partition_offset(), inside);
  SifResult result;
  result.compressed = image.compressed_size();
  const LayerStream* current = nullptr;
  std::uint64_t done = 0;
  std::uint64_t current_size = 0;
  auto show = [&] {
    if (options.progress && current != nullptr)
      options.progress(std::min(done + current->compressed_bytes_read(), result.compressed),
                       result.compressed);
  };
  WatchedSink sink(squashfs, show, [&] { check_size(file.size(), result.compressed, options); });
  auto open = [&](std::size_t layer) {
    done += current_size;
    current_size = image.layer_size(layer);
    auto stream = image.open_layer(layer, options.layer_limits);
    current = stream.get();
    return stream;
  };
  LayerMerge merge(image.layer_count(), open, sink, options.entry_limits, options.layer_limits);
  merge.run();
  current = nullptr;
  result.merge = merge.report();
  add_runtime_files(image.config(), runtime, static_cast<std::uint16_t>(image.layer_count()), merge.tree(),
                    squashfs);

  auto now = static_cast<std::uint32_t>(std::clamp<std::int64_t>(options.now, 0, UINT32_MAX));
  sif.add_partition(squashfs.finish(merge.tree(), merge.xattr_sets(), now,
                                    options.reproducible && !options.keep_times ? now : UINT32_MAX));
  result.squashfs = squashfs.totals();
  sif.finish(make_uuid(image, options));
  result.size = file.size();
  check_size(result.size, result.compressed, options);
  if (options.check) check_written(file.temporary(), result.squashfs, options.squashfs.jobs);
  file.commit();
  return result;
}

}  // namespace kiln::sif
