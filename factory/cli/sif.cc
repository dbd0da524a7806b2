// kiln sif: an OCI image as a SIF file, and what is in a SIF file.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "factory/base/text.h"
#include "factory/cli/image_name.h"
#include "factory/cli/invocation.h"
#include "factory/cli/named_files.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/engine/architecture.h"
#include "factory/oci/pull.h"
#include "factory/os/processors.h"
#include "factory/os/temporary_folder.h"
#include "factory/sif/sif_build.h"
#include "factory/sif/sif_reader.h"
#include "factory/sif/sif_sign.h"

namespace kiln {
namespace {

struct SifSignOptions {
  std::string file;
  std::string output;
  std::string key;
  std::string keyring;
};

sif::Gpg gpg_of(const SifSignOptions& options, const TemporaryFolder& scratch, Invocation& invocation) {
  std::string keyring = options.keyring;
  if (!keyring.empty()) {
    invocation.need_file(keyring);
    keyring = fs::absolute(keyring).string();  // gpg looks for bare names in its own folder
  }
  return {invocation.runner, invocation.child_environment(), scratch.path(), keyring};
}

void print(const SifSignOptions& options, const sif::SignatureReport& report, std::string_view verb) {
  say("{}: {} by {} ({}), {}, {} objects\n", options.file, verb, report.user, report.fingerprint,
      rfc3339(report.time), report.objects);
}

void sign(const SifSignOptions& options, Invocation& invocation) {
  invocation.need_file(options.file);
  TemporaryFolder scratch;
  fs::path output = options.output.empty() ? options.file : options.output;
  need_regular(output, "--output");
  print(options, sif::sign_sif(options.file, output, options.key, gpg_of(options, scratch, invocation)),
        "signed");
}

void verify(const SifSignOptions& options, Invocation& invocation) {
  invocation.need_file(options.file);
  TemporaryFolder scratch;
  ReadOnlyFile file(options.file);
  for (const sif::SignatureReport& report : sif::verify_sif(file, gpg_of(options, scratch, invocation)))
    print(options, report, "good signature");
}

void add_sif_signing(CLI::App& sif, Invocation& invocation) {
  auto options = std::make_shared<SifSignOptions>();
  CLI::App* signing = add_below(sif, "sign", "Add a PGP signature, which `apptainer verify` accepts, too",
                                "kiln sif sign pytorch.sif --key builds@example.org");
  add_value(*signing, "file", options->file, "FILE", "SIF file")->required();
  add_value(*signing, "--key", options->key, "KEY",
            "key, as for gpg --local-user (default: gpg's default key)");
  add_value(*signing, "-o,--output", options->output, "FILE",
            "the signed file (default: the input file, which is replaced)");
  call_alone(*signing, [options, &invocation] { sign(*options, invocation); });
  CLI::App* verifying = add_below(sif, "verify", "Check all signatures, and that no byte was changed",
                                  "kiln sif verify pytorch.sif --keyring builds.pgp");
  add_value(*verifying, "file", options->file, "FILE", "SIF file")->required();
  add_value(*verifying, "--keyring", options->keyring, "FILE",
            "trust only the public keys of this file (gpg --export)");
  call_alone(*verifying, [options, &invocation] { verify(*options, invocation); });
}

struct SifOptions {
  std::string image;
  std::string output;
  std::string compression = "zstd";
  std::string architecture;
  unsigned level = 0;
  unsigned block_kib = 256;
  unsigned jobs = 0;
  bool reproducible = false;
  bool check = false;
  std::string file;
  std::uint32_t object = 0;
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

void report(const sif::SifResult& result, const SifOptions& options, double seconds, Invocation& invocation) {
  const MergeReport& merge = result.merge;
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

// What the definition file says that it was made from; of an image of the index, as the build says it.
ImageName called(const std::string& asked, const ImageName& name) {
  std::size_t colon = asked.find(':');
  bool of_index = name.transport == "oci" && !asked.starts_with("oci:") && colon != std::string::npos;
  return of_index ? ImageName{"oci", asked.substr(0, colon), asked.substr(colon + 1)} : name;
}

// A single image, or one that a tag names, is read whatever --arch says.
void check_architecture(const SourceImage& image, const std::string& asked) {
  if (asked.empty() || image.config().architecture == asked) return;
  throw Error(ExitCode::usage, fmt::format("--arch {} and IMAGE do not go together: the image is for {}",
                                           asked, image.config().architecture));
}

void build(const SifOptions& options, Invocation& invocation) {
  if (options.output == "-")
    throw Error(ExitCode::usage, "--output - does not work: a SIF file is written out of order",
                "name a file, and read that");
  need_regular(options.output, "--output");
  double start = invocation.clock.monotonic_seconds();
  std::string architecture = options.architecture.empty() ? own_architecture() : options.architecture;
  ImageName name = name_of(options.image, invocation);
  need_source(name, invocation);
  std::optional<TemporaryFolder> fetched;
  ImageName local = name.transport == "docker"
                        ? pull_image(name, architecture, fetched.emplace().path(), invocation.skopeo())
                        : name;
  SourceImage image = SourceImage::open(local, architecture);
  check_architecture(image, options.architecture);
  image.call(called(options.image, name));
  sif::SifOptions settings;
  settings.squashfs = {options.compression, options.level, options.block_kib << 10,
                       options.jobs == 0 ? usable_processors() : options.jobs};
  settings.tool = "kiln " KILN_VERSION;
  settings.reproducible = options.reproducible;
  settings.check = options.check;
  settings.now = build_time(invocation, options.reproducible);
  sif::SifResult result;
  {
    ProgressBar bar(invocation, start);
    settings.progress = [&bar](std::uint64_t done, std::uint64_t all) { bar.show(done, all); };
    result = sif::build_sif(image, options.output, settings);
  }
  report(result, options, invocation.clock.monotonic_seconds() - start, invocation);
}

void list(const SifOptions& options) {
  ReadOnlyFile file(options.file);
  Table table({"ID", "GROUP", "LINK", "START", "SIZE", "TYPE", "NAME"});
  for (const sif::SifObject& object : sif::read_sif(file).objects) {
    std::uint32_t group = object.group & ~sif::kSifGroupBit;
    std::uint32_t link = object.link & ~sif::kSifGroupBit;
    bool to_group = (object.link & sif::kSifGroupBit) == sif::kSifGroupBit;
    table.add({std::to_string(object.id), group == 0 ? "-" : std::to_string(group),
               object.link == 0 ? "-" : fmt::format("{}{}", link, to_group ? " (group)" : ""),
               std::to_string(object.offset), std::to_string(object.size), sif::sif_type_name(object.type),
               on_one_line(object.name)});
  }
  print_text(table.text());
}

void dump(const SifOptions& options) {
  ReadOnlyFile file(options.file);
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

void check(const SifOptions& options) {
  ReadOnlyFile file(options.file);
  sif::SifFile sif = sif::read_sif(file);
  sif::SquashfsTotals totals = sif::check_sif(file, usable_processors());
  say("{}: {} objects, {}, {}; {} files of {:.1f} MB read\n", options.file, sif.objects.size(),
      sif::sif_arch_name(sif.header.arch), sif::uuid_text(sif.header.uuid), totals.files,
      static_cast<double>(totals.bytes) / 1e6);
}

void add_build_options(CLI::App& command, SifOptions& options) {
  add_value(
      command, "image", options.image, "IMAGE",
      "oci:DIR[:TAG], oci-archive:FILE, docker-archive:FILE, docker://REFERENCE, or a tag of the index");
  add_value(command, "-o,--output", options.output, "FILE", "the SIF file to write");
  add_choice(command, "--compression", options.compression, {"zstd", "gzip", "lz4", "xz"},
             "compression of the files inside: zstd, gzip, lz4 or xz");
  add_value(command, "--level", options.level, "N", "compression level (default: zstd 3, gzip 9, xz 6)");
  add_value(command, "--block", options.block_kib, "KIB", "block size in KiB, a power of two from 4 to 1024")
      ->capture_default_str();
  add_value(command, "--arch", options.architecture, "ARCH",
            "architecture to choose from an image index (default: this machine's)");
  add_value(command, "--jobs", options.jobs, "N", "compressing threads (default: one for each processor)");
  command.add_flag("--check", options.check, "verify the file before it gets its name, as each build does");
  command.add_flag(
      "--reproducible", options.reproducible,
      "make the same bits from the same image: times clamped to SOURCE_DATE_EPOCH (default 0), fixed UUID");
}

}  // namespace

CLI::App* add_sif(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<SifOptions>();
  CLI::App* command = add_below(
      app, "sif", "Convert an OCI image to a SIF file; list, dump, check, sign and verify SIF files",
      "kiln sif pytorch:2.6.0-distro-x86_64-trixie -o pytorch.sif\n"
      "kiln sif docker://docker.io/library/debian:12 -o debian.sif --compression gzip\n"
      "kiln sif list pytorch.sif");
  add_build_options(*command, *options);
  auto add_reader = [&](const char* name, const char* text, const char* example,
                        void (*act)(const SifOptions&)) {
    CLI::App* reader = add_below(*command, name, text, example);
    add_value(*reader, "file", options->file, "FILE", "SIF file")->required();
    call_alone(*reader, [options, act, &invocation] {
      invocation.need_file(options->file);
      act(*options);
    });
    return reader;
  };
  add_reader("list", "List the objects of a SIF file", "kiln sif list pytorch.sif", list);
  CLI::App* dumping =
      add_reader("dump", "Print the bytes of one object", "kiln sif dump pytorch.sif 1", dump);
  add_value(*dumping, "id", options->object, "ID", "the object's id")->required();
  add_reader("check", "Read a SIF file strictly, all files in it too, and describe it",
             "kiln sif check pytorch.sif", check);
  add_sif_signing(*command, invocation);
  command->require_subcommand(0, 1);
  command->callback([options, command, &invocation] {
    if (!command->get_subcommands().empty()) return;
    if (options->image.empty()) throw CLI::RequiredError("image");
    if (options->output.empty()) throw CLI::RequiredError("--output");
    build(*options, invocation);
  });
  return command;
}

}  // namespace kiln
