// kiln sif: an OCI image as a SIF file, and what is in a SIF file.
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "cli/invocation.h"
#include "cli/table.h"
#include "sif/sif_build.h"
#include "sif/sif_reader.h"

namespace kiln {
namespace {

struct Options {
  std::string image;
  std::string output;
  std::string compression = "zstd";
  std::string architecture;
  unsigned level = 0;
  unsigned block_kib = 256;
  unsigned jobs = 0;
  bool reproducible = false;
  std::string file;
  std::uint32_t object = 0;
};

unsigned usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
}

std::string own_architecture() {
#if defined(__aarch64__)
  return "arm64";
#elif defined(__powerpc64__)
  return "ppc64le";
#else
  return "amd64";
#endif
}

// A folder of our own that goes when the command ends.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "kiln-sif.XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw Error(ExitCode::store, "cannot create a folder in " + name);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// skopeo knows registries, their logins and their certificates; what it fetched is read as a layout.
sif::ImageName fetch(const sif::ImageName& name, const fs::path& folder, Invocation& invocation) {
  Command command;
  command.argv = {"skopeo", "copy", "--quiet", "docker:" + name.path,
                  "oci:" + (folder / "image").string() + ":fetched"};
  command.environment = invocation.child_environment();
  CommandResult result = invocation.runner.run(command);
  if (!result.ok())
    throw Error(ExitCode::network, fmt::format("cannot fetch docker:{}: {}", name.path, result.tail));
  return {"oci", (folder / "image").string(), "fetched"};
}

// "repository:tag" of the index stands for the layout of that image.
sif::ImageName name_of(const std::string& text, Invocation& invocation) {
  if (text.starts_with("docker:") || text.starts_with("oci:") || text.find("-archive:") != std::string::npos)
    return sif::parse_image_name(text);
  if (invocation.files.exists(invocation.state().root() / "index.db"))
    for (const IndexEntry& entry : invocation.index(Index::Mode::read).entries())
      if (entry.image.name() == text && !entry.image.layout.empty())
        return {"oci", (invocation.state().root() / entry.image.layout).string(), ""};
  return sif::parse_image_name(text);
}

class Bar {
 public:
  Bar(Invocation& invocation, double start) : invocation_(invocation), start_(start) {
    const std::string& style = invocation.options.progress;
    shown_ =
        !invocation.options.quiet && (style == "tty" || (style == "auto" && ::isatty(STDERR_FILENO) == 1));
  }
  ~Bar() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
  }
  Bar(const Bar&) = delete;
  Bar& operator=(const Bar&) = delete;

  void show(std::uint64_t done, std::uint64_t all) {
    double now = invocation_.clock.monotonic_seconds();
    if (!shown_ || now - last_ < 0.1) return;
    last_ = now;
    double part = all == 0 ? 1 : static_cast<double>(done) / static_cast<double>(all);
    auto filled = static_cast<std::size_t>(part * 30);
    fmt::print(stderr, "\r[{}{}] {:3.0f} %  {} of {} MB  {:.0f} s\x1b[K", std::string(filled, '#'),
               std::string(30 - std::min<std::size_t>(filled, 30), '.'), part * 100, done / 1'000'000,
               all / 1'000'000, now - start_);
  }

 private:
  Invocation& invocation_;
  double start_;
  double last_ = 0;
  bool shown_ = false;
};

std::int64_t build_time(Invocation& invocation, bool reproducible) {
  auto epoch = invocation.environment.find("SOURCE_DATE_EPOCH");
  if (epoch == invocation.environment.end()) return reproducible ? 0 : invocation.clock.unix_seconds();
  char* end = nullptr;
  errno = 0;
  long long seconds = std::strtoll(epoch->second.c_str(), &end, 10);
  if (errno != 0 || end == epoch->second.c_str() || *end != '\0' || seconds < 0)
    throw Error(ExitCode::usage,
                fmt::format("SOURCE_DATE_EPOCH is '{}', no number of seconds", epoch->second));
  return seconds;
}

void report(const sif::SifResult& result, const Options& options, double seconds, Invocation& invocation) {
  const sif::MergeReport& merge = result.merge;
  if (merge.devices_dropped > 0)
    invocation.note(
        fmt::format("{} device nodes left out: Apptainer binds the host's /dev", merge.devices_dropped));
  if (merge.xattrs_dropped > 0)
    invocation.note(fmt::format("{} extended attributes left out: user.* and security.capability are kept",
                                merge.xattrs_dropped));
  invocation.note(fmt::format("{}: {:.1f} MB from {:.1f} MB of layers, {} entries, {:.1f} s", options.output,
                              static_cast<double>(result.size) / 1e6,
                              static_cast<double>(result.compressed) / 1e6, merge.entries, seconds));
}

void build(const Options& options, Invocation& invocation) {
  double start = invocation.clock.monotonic_seconds();
  std::string architecture = options.architecture.empty() ? own_architecture() : options.architecture;
  sif::ImageName name = name_of(options.image, invocation);
  std::optional<TemporaryFolder> fetched;
  sif::ImageName local =
      name.transport == "docker" ? fetch(name, fetched.emplace().path(), invocation) : name;
  sif::SourceImage image = sif::SourceImage::open(local, architecture);
  image.call(name);
  sif::SifOptions settings;
  settings.squashfs = {options.compression, options.level, options.block_kib << 10,
                       options.jobs == 0 ? usable_processors() : options.jobs};
  settings.tool = "kiln " KILN_VERSION;
  settings.reproducible = options.reproducible;
  settings.now = build_time(invocation, options.reproducible);
  sif::SifResult result;
  {
    Bar bar(invocation, start);
    settings.progress = [&bar](std::uint64_t done, std::uint64_t all) { bar.show(done, all); };
    result = sif::build_sif(image, options.output, settings);
  }
  report(result, options, invocation.clock.monotonic_seconds() - start, invocation);
}

void list(const Options& options) {
  sif::ReadOnlyFile file(options.file);
  Table table({"ID", "GROUP", "LINK", "START", "SIZE", "TYPE", "NAME"});
  for (const sif::SifObject& object : sif::read_sif(file).objects) {
    std::uint32_t group = object.group & ~sif::kSifGroupBit;
    std::uint32_t link = object.link & ~sif::kSifGroupBit;
    bool to_group = (object.link & sif::kSifGroupBit) == sif::kSifGroupBit;
    table.add({std::to_string(object.id), group == 0 ? "-" : std::to_string(group),
               object.link == 0 ? "-" : fmt::format("{}{}", link, to_group ? " (group)" : ""),
               std::to_string(object.offset), std::to_string(object.size), sif::sif_type_name(object.type),
               object.name});
  }
  fmt::print("{}", table.text());
}

void dump(const Options& options) {
  sif::ReadOnlyFile file(options.file);
  const sif::SifFile sif = sif::read_sif(file);
  const sif::SifObject& object = sif.object(options.object);
  std::string buffer(1u << 20, '\0');
  for (std::uint64_t done = 0; done < object.size;) {
    std::size_t want = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), object.size - done));
    std::size_t got = file.read_at(object.offset + done, buffer.data(), want);
    if (got == 0 || std::fwrite(buffer.data(), 1, got, stdout) != got)
      throw Error(ExitCode::store, "cannot write to stdout");
    done += got;
  }
}

void check(const Options& options) {
  sif::ReadOnlyFile file(options.file);
  sif::SifFile sif = sif::read_sif(file);
  sif::check_primary_partition(file, sif);
  fmt::print("{}: {} objects, {}, {}\n", options.file, sif.objects.size(),
             sif::sif_arch_name(sif.header.arch), sif::uuid_text(sif.header.uuid));
}

void add_build_options(CLI::App& command, Options& options) {
  command
      .add_option(
          "image", options.image,
          "oci:DIR[:TAG], oci-archive:FILE, docker-archive:FILE, docker://REFERENCE, or a tag of the index")
      ->type_name("IMAGE");
  command.add_option("-o,--output", options.output, "the SIF file to write")->type_name("FILE");
  command.add_option("--compression", options.compression, "of the files inside")
      ->check(CLI::IsMember({"zstd", "gzip", "lz4", "xz"}))
      ->capture_default_str();
  command.add_option("--level", options.level, "compression level (default: zstd 3, gzip 9, xz 6)")
      ->type_name("N");
  command.add_option("--block", options.block_kib, "block size in KiB, a power of two from 4 to 1024")
      ->capture_default_str();
  command
      .add_option("--arch", options.architecture,
                  "architecture to choose from an image index (default: this machine's)")
      ->type_name("ARCH");
  command.add_option("--jobs", options.jobs, "compressing threads (default: one for each processor)")
      ->type_name("N");
  command.add_flag(
      "--reproducible", options.reproducible,
      "the same bits from the same image: times clamped to SOURCE_DATE_EPOCH (default 0), fixed UUID");
}

CLI::App* add_reader(CLI::App& parent, const char* name, const char* text, Options& options) {
  CLI::App* command = parent.add_subcommand(name, text);
  command->add_option("file", options.file, "SIF file")->required()->type_name("FILE");
  command->fallthrough();
  return command;
}

}  // namespace

CLI::App* add_sif(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("sif", "Convert an OCI image to a SIF file; list, dump and check SIF files");
  add_build_options(*command, *options);
  add_reader(*command, "list", "The objects of a SIF file", *options)->callback([options] {
    list(*options);
  });
  CLI::App* dumping = add_reader(*command, "dump", "One object's bytes on stdout", *options);
  dumping->add_option("id", options->object, "the object's id")->required()->type_name("ID");
  dumping->callback([options] { dump(*options); });
  add_reader(*command, "check", "Read a SIF file strictly", *options)->callback([options] {
    check(*options);
  });
  command->require_subcommand(0, 1);
  command->callback([options, command, &invocation] {
    if (!command->get_subcommands().empty()) return;
    if (options->image.empty()) throw CLI::RequiredError("IMAGE");
    if (options->output.empty()) throw CLI::RequiredError("--output");
    build(*options, invocation);
  });
  return command;
}

}  // namespace kiln
