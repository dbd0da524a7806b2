// kiln inspect: what an image says of itself, with --evidence and --sbom what is really inside, and with
// --provenance how it was made.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "factory/base/text.h"
#include "factory/cli/image_name.h"
#include "factory/cli/invocation.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/engine/architecture.h"
#include "factory/oci/layout.h"
#include "factory/oci/pull.h"
#include "factory/os/processors.h"
#include "factory/os/temporary_folder.h"
#include "factory/package/package.h"

namespace kiln {
namespace {

struct InspectOptions {
  std::string image;
  std::string target;
  std::string architecture;
  std::string format = "table";
  std::string bill;  // spdx, cyclonedx
  bool provenance = false;
  bool gain = false;
  unsigned jobs = 0;
  bool evidence = false;
  bool files = false;
};

void print(const evidence::Evidence& found, const InspectOptions& options) {
  if (options.format == "json")
    print_json(to_json(found, options.files));
  else
    print_text(to_table(found, options.files));
}

void show_evidence(evidence::ImageFiles files, const evidence::Declaration& declared,
                   const InspectOptions& options, Invocation& invocation) {
  evidence::Evidence found = evidence::judge(files, declared, invocation.cpus());
  print(found, options);
  if (found.verdict == evidence::Verdict::exceeds) invocation.exit_code = ExitCode::images_failed;
}

void show_image(const SourceImage& image, const InspectOptions& options) {
  const ImageConfig& config = image.config();
  if (options.format == "json") {
    Json layers = Json::array();
    for (std::size_t i = 0; i < image.layer_count(); ++i)
      layers.push_back({{"diff_id", config.diff_ids[i].text()}, {"size", image.layer_size(i)}});
    return print_json({{"digest", image.digest().text()}, {"config", to_json(config)}, {"layers", layers}});
  }
  Table table({"", ""});
  table.add({"digest", image.digest().text()});
  table.add({"platform", on_one_line(config.os + "/" + config.architecture)});
  table.add({"layers", fmt::format("{}, {:.1f} MB compressed", image.layer_count(),
                                   static_cast<double>(image.compressed_size()) / 1e6)});
  for (const auto& [name, value] : config.labels) table.add({on_one_line(name), on_one_line(value)});
  print_text(table.text());
}

// "": no document is asked for.
std::string document_kind(const InspectOptions& options) {
  return options.gain ? std::string(kGainKind) : options.provenance ? "provenance" : options.bill;
}

// Why an image may have no such document. REQUIRES: one of those that kiln cannot make of the layers.
std::string why_none(const InspectOptions& options) {
  return options.gain ? "an image has words on its gain once it claims more than stock, an image of its "
                        "framework was measured, and it was published since"
                      : "it was built before kiln kept provenance; build it again";
}

std::string none_text(const InspectOptions& options) {
  return fmt::format("there {} '{}'", options.gain ? "are no words on the gain of" : "is no provenance of",
                     options.image);
}

// What was made with the image, and is in the store.
bool show_attached(const InspectOptions& options, Invocation& invocation) {
  auto record = find_record(options.image, invocation);
  auto document = record ? read_attachment(*record, document_kind(options), invocation) : std::nullopt;
  if (document) print_document(*document);
  if (record && !document && options.bill.empty())
    throw Error(ExitCode::no_match, none_text(options), why_none(options));
  return document.has_value();
}

// What somebody put beside the image, else a bill of what its layers hold.
void show_document(SourceImage& image, const InspectOptions& options, Invocation& invocation) {
  if (auto document = read_referrer(image, document_kind(options))) {
    invocation.note("as attached to the image: kiln did not check its contents");
    return print_document(*document);
  }
  if (!options.bill.empty()) {
    print_document(make_bill(image, options.image, options.bill, source_date_epoch(invocation.environment),
                             KILN_VERSION));
    return;
  }
  bool remote = options.image.starts_with("docker:");
  throw Error(ExitCode::no_match, none_text(options),
              referrers_text(image, options.image) +
                  (remote ? ", found by their tag; kiln does not ask a registry's referrers API" : ""));
}

void run_inspect(const InspectOptions& options, Invocation& invocation) {
  if (!document_kind(options).empty() && show_attached(options, invocation)) return;
  double start = invocation.clock.monotonic_seconds();
  if (!options.target.empty()) evidence::features_of_target(invocation.cpus(), options.target);
  evidence::ReadOptions reading;
  reading.jobs = options.jobs == 0 ? usable_processors() : options.jobs;
  if (options.image.starts_with("dir:")) {
    if (!options.evidence || !document_kind(options).empty())
      throw Error(ExitCode::usage, "a folder has no labels to show, and no layers to read packages from",
                  "`--evidence` shows what code is inside");
    return show_evidence(evidence::read_folder(options.image.substr(4), reading),
                         declared_by({}, options.target), options, invocation);
  }
  ImageName name = name_of(options.image, invocation);
  std::optional<TemporaryFolder> fetched;
  need_source(name, invocation);
  std::string architecture = options.architecture.empty() ? own_architecture() : options.architecture;
  ImageName asked = name;
  if (name.transport == "docker")
    name = pull_image(name, architecture, fetched.emplace().path(), invocation.skopeo());
  SourceImage image = SourceImage::open(name, architecture);
  if (!document_kind(options).empty()) {
    if (fetched) pull_referrers(asked, image.digest(), fetched->path(), invocation.skopeo());
    return show_document(image, options, invocation);
  }
  if (!options.evidence) return show_image(image, options);
  std::optional<ProgressBar> bar(std::in_place, invocation, start);
  reading.progress = [&bar](std::uint64_t done, std::uint64_t all) { bar->show(done, all); };
  evidence::ImageFiles files = evidence::read_image(image, reading);
  bar.reset();
  show_evidence(std::move(files), declared_by(image.config(), options.target), options, invocation);
}

}  // namespace

CLI::App* add_inspect(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App* command =
      add_below(app, "inspect", "Show an image's metadata and its content",
                "kiln inspect pytorch:2.6.0-distro-x86_64-trixie\n"
                "kiln inspect pytorch:2.6.0-distro-x86_64-trixie --evidence --target broadwell\n"
                "kiln inspect pytorch:2.6.0-distro-x86_64-trixie --sbom spdx >pytorch.spdx.json\n"
                "kiln inspect dir:/opt/software --evidence --target zen3");
  add_value(
      *command, "image", options->image, "IMAGE",
      "a tag of the index, oci:DIR[:TAG], oci-archive:FILE, docker-archive:FILE, docker://REFERENCE, or "
      "dir:FOLDER with --evidence")
      ->required();
  command->add_flag("--evidence", options->evidence,
                    "read the machine code inside: exit 1 when it exceeds the target");
  auto* bill =
      add_choice(*command, "--sbom", options->bill, {"spdx", "cyclonedx"},
                 "print the bill of materials and nothing else, in this form: spdx (2.3) or cyclonedx (1.6)")
          ->type_name("FORM");
  auto* provenance = command->add_flag("--provenance", options->provenance,
                                       "print how the image was made (SLSA v1, in-toto) and nothing else");
  auto* gain = command->add_flag(
      "--gain", options->gain,
      "print the words on its gain over stock, by workload and kind of host, and nothing else (JSON)");
  bill->excludes("--evidence");
  gain->excludes("--evidence")->excludes(bill)->excludes(provenance);
  provenance->excludes("--evidence")->excludes(bill);
  add_value(*command, "--target", options->target, "CPU",
            "CPU to judge the code by, an archspec name (default: the image's label io.kiln.cpu.target)");
  add_value(*command, "--arch", options->architecture, "ARCH",
            "architecture to choose from an image index (default: this machine's)");
  add_value(*command, "--jobs", options->jobs, "N", "scanning threads (default: one for each processor)");
  command->add_flag("--files", options->files, "also list the findings of every file");
  add_format_option(*command, options->format);
  command->callback([options, &invocation] { run_inspect(*options, invocation); });
  return command;
}

}  // namespace kiln
