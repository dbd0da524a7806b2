// The index and selection at size, with images that were built: an index as a site's nights leave it, and
// questions of it in one process.
//
//   index_bench fill STATE [VERSIONS]   publishes ten applications × VERSIONS (20) × 5 methods × 25 targets ×
//                                       4 sets of graph compilers, 1 in 50 of them measured: 100,000 images
//   index_bench publish STATE           publishes one more; prints {"wall", "cpu"} in seconds
//   index_bench ask STATE QUESTIONS     asks as the library does; prints the times of an answer in
//                                       microseconds, the longest (which reads the snapshot) and the memory
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>

#include "factory/base/effects.h"
#include "factory/oci/documents.h"
#include "registry/answer/resident_snapshot.h"
#include "registry/index/index.h"

namespace kiln::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kNow = "2026-11-23T00:00:00Z";
const std::vector<std::string> kApplications = {"pytorch", "tensorflow", "mxnet",  "jax",      "keras",
                                                "openmpi", "gromacs",    "lammps", "openfoam", "horovod"};
const std::vector<std::string> kMethods = {"pip", "source", "distro", "conda", "hub"};
const std::vector<std::vector<std::string>> kCompilers = {{}, {"xla"}, {"inductor"}, {"xla", "tvm"}};
const std::vector<std::string> kWorkloads = {"mnist-cnn", "resnet50"};

struct Place {
  std::string cpu;
  std::vector<std::string> accelerators;
};

std::vector<Place> places() {
  std::vector<Place> places;
  for (const char* cpu : {"x86_64_v2", "x86_64_v3", "x86_64_v4", "haswell", "skylake_avx512", "icelake",
                          "zen2", "zen3", "zen4", "neoverse_n1", "neoverse_v1", "power9le"})
    places.push_back({cpu, {}});
  for (const char* cpu : {"x86_64_v3", "zen3", "zen4", "neoverse_v1"})
    for (const char* gpu : {"nvidia:sm_70", "nvidia:sm_80", "nvidia:sm_90"}) places.push_back({cpu, {gpu}});
  places.push_back({"power9le", {"nvidia:sm_70"}});
  return places;
}

class Filler {
 public:
  explicit Filler(const fs::path& state) : store_(state / "store") {}

  ImageRecord image(const std::string& application, const std::string& version, const std::string& method,
                    const Place& place, const std::vector<std::string>& compilers) {
    std::string name = fmt::format("{}-{}-{}", version, method, place.cpu);
    for (const std::string& accelerator : place.accelerators) name += "-" + accelerator.substr(7);
    for (const std::string& compiler : compilers) name += "-" + compiler;
    Manifest manifest;
    manifest.config = store_.put(fmt::format(R"({{"config": "{} {}"}})", application, name),
                                 std::string(media_type::kConfig));
    manifest.layers = {store_.put("layer", std::string(media_type::kLayerZstd))};
    ImageRecord record;
    record.manifest = store_.put(to_json(manifest).dump(), std::string(media_type::kManifest)).digest;
    record.repository = record.application = application;
    record.tag = name;
    record.key = Digest::of(application + name).hex();
    record.immutable_tag = name + "-" + record.key.substr(0, 12);
    record.cell = application + "/" + name;
    record.version = Version(version);
    record.method = method;
    record.optimised = method == "source";
    record.components = {{"framework", application, Version(version), method, record.optimised},
                         {"toolchain", "python", Version("3.11"), "distro", false},
                         {"library", "openblas", Version("0.3.28"), "source", true}};
    for (const std::string& compiler : compilers)
      record.components.push_back({"compiler", compiler, Version("2.1"), "pip", false});
    record.cpu = place.cpu;
    record.accelerators = place.accelerators;
    record.needs.glibc = Version("2.36");
    record.needs.kernel = Version("3.2.0");
    if (!place.accelerators.empty()) record.needs.cuda = Version("12.4");
    record.evidence.verdict = "conforms";
    record.evidence.target = place.cpu;
    record.evidence.flags = {"gcc 12.2.0: -march=" + place.cpu};
    record.evidence.unconditional = {"avx2", "fma"};
    record.evidence.glibc = "2.34";
    for (const std::string& accelerator : place.accelerators)
      record.evidence.gpu.push_back(accelerator.substr(7));
    record.labels = {{"org.opencontainers.image.title", record.name()},
                     {"org.opencontainers.image.version", version}};
    record.facts = {{"python", "3.11"}};
    record.size = 734003200;
    record.created = kNow;
    return record;
  }

 private:
  BlobStore store_;
};

Measurement speed_of(const ImageRecord& image, std::mt19937& random) {
  Measurement measured;
  measured.image = image.manifest;
  measured.key = image.key;
  measured.workload = kWorkloads[random() % kWorkloads.size()];
  measured.unit = "ms/step";
  measured.median = 100.0 + static_cast<double>(random() % 300);
  measured.low = measured.median * 0.98;
  measured.high = measured.median * 1.02;
  measured.samples = 20;
  measured.host.cpu = image.cpu;
  measured.host.model = "Model of " + image.cpu;
  measured.host.cores = 64;
  measured.host.accelerators = image.accelerators;
  measured.taken = kNow;
  return measured;
}

void fill(const fs::path& state, int versions) {
  Filler filler(state);
  std::vector<ImageRecord> images;
  for (const std::string& application : kApplications)
    for (int version = 0; version < versions; ++version)
      for (const std::string& method : kMethods)
        for (const Place& place : places())
          for (const auto& compilers : kCompilers)
            images.push_back(filler.image(application, fmt::format("2.{}.{}", version / 2, version % 2),
                                          method, place, compilers));
  Index index = Index::open(state, Index::Mode::write);
  index.publish(images, {}, kNow, "night");
  std::mt19937 random(7);
  for (std::size_t i = 0; i < images.size(); i += 50) index.record(speed_of(images[i], random));
  std::printf("%zu\n", images.size());
}

double cpu_seconds() {
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void publish_one(const fs::path& state) {
  const ImageRecord image =
      Filler(state).image("pytorch", fmt::format("3.0.{}", Clock::now().time_since_epoch().count() % 1000000),
                          "pip", places().front(), {});
  const auto start = Clock::now();
  const double cpu = cpu_seconds();
  Index::open(state, Index::Mode::write).publish({image}, {}, kNow, "night");
  std::printf("{\"wall\": %.4f, \"cpu\": %.4f}\n",
              std::chrono::duration<double>(Clock::now() - start).count(), cpu_seconds() - cpu);
}

ImageQuery question(std::mt19937& random) {
  ImageQuery query;
  query.application = kApplications[random() % kApplications.size()];
  query.opt_build = random() % 3 != 0;
  if (random() % 10 < 7) query.version = VersionRange::parse(fmt::format("2.{}", random() % 10));
  for (const std::string& compiler : kCompilers[random() % kCompilers.size()])
    query.compilers[compiler] = true;
  if (random() % 2 == 0) query.acc_type = "nvidia";
  if (random() % 2 == 0) query.workload = kWorkloads[random() % kWorkloads.size()];
  return query;
}

std::vector<Host> hosts() {
  std::vector<Host> hosts = {{}};
  for (const Place& place : places()) {
    Host host{{}, true};
    host.description.cpu = place.cpu;
    host.description.model = "Model of " + place.cpu;
    host.description.cores = 64;
    host.description.accelerators = place.accelerators;
    hosts.push_back(std::move(host));
  }
  return hosts;
}

// As the library and the server ask: the first questions by rows, the others of the snapshot in memory.
void ask(const fs::path& state, int questions) {
  RealFileSystem files;
  const auto cpus = Microarchitectures::parse(files.read(KILN_ARCHSPEC_JSON).value(), KILN_ARCHSPEC_JSON);
  const Index index = Index::open(state, Index::Mode::read);
  const IndexIdentity file = identity_of_index(state);
  ResidentSnapshot resident(cpus);
  const std::vector<Host> all_hosts = hosts();
  std::mt19937 random(11);
  std::vector<double> times;
  std::size_t answered = 0;
  for (int i = 0; i < questions; ++i) {
    const Host& host = all_hosts[random() % all_hosts.size()];
    const ImageQuery query = question(random);
    const auto before = Clock::now();
    answered += resident.best(index, file, query, host) ? 1 : 0;
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - before).count());
  }
  const double reading = *std::max_element(times.begin(), times.end());
  std::sort(times.begin(), times.end());
  struct rusage used {};
  getrusage(RUSAGE_SELF, &used);
  std::printf(
      "{\"questions\": %d, \"answered\": %zu, \"median_us\": %.1f, \"p99_us\": %.1f, \"reading_s\": %.2f, "
      "\"rss\": %ld}\n",
      questions, answered, times[times.size() / 2], times[times.size() * 99 / 100], reading / 1e6,
      used.ru_maxrss * 1024);
}

}  // namespace
}  // namespace kiln::bench

int main(int argc, char** argv) {
  const std::string what = argc > 2 ? argv[1] : "";
  const int number = argc > 3 ? std::atoi(argv[3]) : 0;
  try {
    if (what == "fill")
      kiln::bench::fill(argv[2], number > 0 ? number : 20);
    else if (what == "publish")
      kiln::bench::publish_one(argv[2]);
    else if (what == "ask" && number > 0)
      kiln::bench::ask(argv[2], number);
    else
      return std::fputs("usage: index_bench fill STATE [VERSIONS] | publish STATE | ask STATE QUESTIONS\n",
                        stderr),
             2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
