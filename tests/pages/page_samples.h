// Images as a site has them, by their number: what the tests of pages look at. The same number is always the
// same image.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "factory/oci/documents.h"
#include "factory/pages/page_source.h"

namespace kiln::testing {

inline bool has(const std::string& text, std::string_view words) {
  return text.find(words) != std::string::npos;
}

inline constexpr const char* kDay = "2026-11-20T10:00:00Z";

struct SampleTarget {
  std::string cpu;
  std::vector<std::string> accelerators;
  std::string model;  // of the processor on which it is measured
};

inline const std::vector<SampleTarget>& sample_targets() {
  static const std::vector<SampleTarget> targets = {
      {"x86_64_v3", {}, "Intel(R) Xeon(R) Gold 6248"},  {"zen4", {"nvidia:sm_90"}, "AMD EPYC 9654"},
      {"zen3", {"amd:gfx90a"}, "AMD EPYC 7A53"},        {"skylake_avx512", {}, "Intel(R) Xeon(R) Gold 6248"},
      {"neoverse_v2", {"nvidia:sm_90"}, "Neoverse-V2"}, {"zen4", {}, "AMD EPYC 9654"},
      {"x86_64_v3", {"nvidia:sm_80"}, "AMD EPYC 7413"}};
  return targets;
}

// All that one number decides.
struct SampleAxes {
  std::string application, version, method;
  std::vector<std::string> compilers;
  const SampleTarget* target;

  explicit SampleAxes(std::size_t number) {
    const std::vector<std::string> applications = {"pytorch", "tensorflow", "jax", "mxnet", "gromacs"};
    const std::vector<std::string> methods = {"pip", "source", "distro"};
    const std::vector<std::vector<std::string>> sets = {{}, {"xla"}, {"inductor"}, {"xla", "tvm"}};
    auto next = [&number](std::size_t many) {
      const std::size_t one = number % many;
      number /= many;
      return one;
    };
    application = applications[next(5)];
    target = &sample_targets()[next(7)];
    method = methods[next(3)];
    compilers = sets[next(4)];
    version = fmt::format("2.{}.{}", number % 12, number / 12);
  }
};

inline ImageRecord sample_image(std::size_t number) {
  const SampleAxes axes(number);
  ImageRecord image;
  image.repository = image.application = axes.application;
  image.tag = fmt::format("{}-{}", axes.version, axes.method);
  for (const std::string& compiler : axes.compilers) image.tag += "-" + compiler;
  image.tag += "-" + axes.target->cpu;
  for (std::string accelerator : axes.target->accelerators)
    image.tag += "-" + accelerator.substr(accelerator.find(':') + 1);
  image.tag += "-trixie";
  image.key = Digest::of(image.repository + image.tag).hex();
  image.immutable_tag = image.tag + "-" + image.key.substr(0, 12);
  image.manifest = Digest::of("manifest of " + image.key);
  image.cell = image.application + "-" + image.tag;
  image.version = Version(axes.version);
  image.method = axes.method;
  image.optimised = axes.method == "source";
  image.components = {{"base", "debian", Version("13"), "hub", false},
                      {"library", "openblas", Version("0.3.29"), "source", true},
                      {"framework", axes.application, Version(axes.version), axes.method, image.optimised}};
  for (const std::string& compiler : axes.compilers)
    image.components.push_back({"compiler", compiler, Version("2.1"), "pip", false});
  image.cpu = axes.target->cpu;
  image.accelerators = axes.target->accelerators;
  image.size = 180'000'000 + number * 7919 % 3'000'000'000;
  image.layout = "images/" + image.repository + "/" + image.immutable_tag;
  image.created = fmt::format("2026-{:02}-{:02}T04:00:00Z", 1 + number % 11, 1 + number % 28);
  image.evidence.verdict = number % 17 == 3 ? "not optimised" : "conforms";
  image.evidence.target = image.cpu;
  image.evidence.flags = {fmt::format("gcc 14.2.0: -march={0} -mtune={0}", image.cpu)};
  image.evidence.unconditional = {"avx2", "bmi2", "fma"};
  image.evidence.dispatched = {"avx512f", "avx512vl"};
  image.evidence.glibc = "2.38";
  image.evidence.glibc_provided = "2.41";
  image.needs.glibc = Version("2.41");
  image.needs.kernel = Version("3.2.0");
  if (!image.accelerators.empty() && image.accelerators.front().starts_with("nvidia:")) {
    image.needs.cuda = Version("13.0.2");
    image.needs.driver = Version("580.65.06");
  }
  image.facts = {{"python", "3.13"}};
  image.tests = TestsRecord{{axes.application + " " + axes.version + " (" + axes.method + ")"}, {}, {}};
  image.tests->ran[image.tests->passed.front()] =
      TestRun{"nid0412", image.cpu, image.accelerators, "6.12.48-amd64", kDay};
  image.labels = {
      {"org.opencontainers.image.title",
       fmt::format("{} {} ({})", axes.application, axes.version, axes.method)},
      {"org.opencontainers.image.licenses", "BSD-3-Clause AND GPL-2.0-only WITH GCC-exception-2.0"}};
  image.published.registry = "registry.site:5000/ai";
  return image;
}

// Nothing, one or two speeds.
inline std::vector<Measurement> sample_speeds(const ImageRecord& image, std::size_t number) {
  std::vector<Measurement> speeds;
  const std::vector<std::pair<std::string, std::string>> workloads = {{"mnist-cnn", "ms/step"},
                                                                      {"resnet50", "images/s"}};
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    if (number % (3 + 4 * i) != 0) continue;
    Measurement speed;
    speed.image = image.manifest;
    speed.key = image.key;
    speed.workload = workloads[i].first;
    speed.unit = workloads[i].second;
    speed.median = (image.optimised ? 61.0 : 94.0) + static_cast<double>(number * 37 % 290) / 10 +
                   800.0 * static_cast<double>(i);
    const double spread = speed.median * (0.01 + static_cast<double>(number % 9) / 200);
    speed.low = speed.median - spread;
    speed.high = speed.median + 1.4 * spread;
    speed.samples = 60;
    speed.host.cpu = image.cpu;
    speed.host.model = SampleAxes(number).target->model;
    speed.host.cores = 64;
    speed.host.accelerators = image.accelerators;
    speed.taken = kDay;
    speeds.push_back(speed);
  }
  return speeds;
}

inline IndexEntry sample_entry(std::size_t number) {
  IndexEntry entry;
  entry.image = sample_image(number);
  entry.measurements = sample_speeds(entry.image, number);
  entry.matrices = {"current"};
  return entry;
}

inline IndexEntry sample_mapping(const std::string& code, const std::string& reference) {
  IndexEntry entry;
  entry.image.code = code;
  entry.image.reference = reference;
  entry.image.application = "openmpi";
  entry.image.version = Version("3.1.3");
  return entry;
}

}  // namespace kiln::testing
