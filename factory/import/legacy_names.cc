#include "factory/import/legacy_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "factory/base/reading.h"
#include "factory/base/text.h"
#include "factory/import/legacy_pins.h"
#include "factory/oci/reference.h"
#include "factory/recipe/recipe.h"
#include "factory/recipe/target.h"

namespace kiln {
namespace {

// What the words of file names mean.
struct Alias {
  std::string_view name;
  std::string_view words;
};

// Also the names of packages.
constexpr Alias kFrameworks[] = {
    {"tensorflow", "tf tensorflow tensorflow-gpu tensorflow-cpu intel-tensorflow"},
    {"pytorch", "torch pytorch pt"},
    {"mxnet", "mxnet"},
    {"cntk", "cntk cntk-gpu"},
    {"jax", "jax jaxlib"},
    {"onnxruntime", "onnxruntime onnxruntime-gpu"},
    {"scikit-learn", "scikit-learn"}};
constexpr Alias kMethods[] = {{"hub", "hub dockerhub official"},
                              {"pip", "pip wheel"},
                              {"source", "src source opt build"},
                              {"distro", "distro apt deb"},
                              {"vendor", "conda vendor intel"}};
// Short names of graph compilers; their own names are handed in.
constexpr Alias kCompilers[] = {{"tensorrt", "trt"}};

std::string meaning(std::span<const Alias> aliases, std::string_view word) {
  for (const Alias& alias : aliases)
    if (is_one_of(word, alias.words)) return std::string(alias.name);
  return "";
}

// "mxnet-cu101" and "mxnet-mkl" are mxnet.
std::string framework_of_package(const std::string& package) {
  if (package.starts_with("mxnet-")) return "mxnet";
  return meaning(kFrameworks, package);
}

std::vector<std::string> words_of(const std::string& stem) {
  std::vector<std::string> words(1);
  for (char c : stem) {
    if (c == '-' || c == '_' || c == '+') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  std::erase(words, "");
  return words;
}

std::string last_word(const std::string& path) {
  std::string name(last_part(path));
  return name.ends_with(".git") ? name.substr(0, name.size() - 4) : name;
}

bool is_gpu_word(const std::string& word) {
  return word == "gpu" || word == "rocm" || word.starts_with("cuda") ||
         (word.starts_with("cu") && word.size() > 2 && is_digit(word[2]));
}

class CellReader {
 public:
  CellReader(LegacyImage& image, const ImportOptions& options, const Microarchitectures& cpus)
      : image_(image), options_(options), cpus_(cpus), words_(words_of(image.stem)) {}
  LegacyCell read();

 private:
  struct Found {
    std::string framework;
    std::string version;
    int line = 0;
  };
  std::optional<Found> in_packages() const;
  std::optional<Found> in_clones() const;
  std::optional<Found> in_wheels() const;
  std::optional<Found> in_base() const;
  std::string name_of_file() const;
  bool says_something_else(const std::string& word) const;
  void framework_and_version();
  std::string compiler() const;
  std::string method() const;
  void target();
  bool for_gpu() const;
  void accelerators(const std::string& value);
  bool is_target(const std::string& accelerator) const;
  std::string word_of(std::span<const Alias> aliases) const {
    for (const std::string& word : words_)
      if (std::string name = meaning(aliases, word); !name.empty()) return name;
    return "";
  }

  LegacyImage& image_;
  const ImportOptions& options_;
  const Microarchitectures& cpus_;
  std::vector<std::string> words_;
  LegacyCell cell_;
};

LegacyCell CellReader::read() {
  cell_.compiler = compiler();
  framework_and_version();
  cell_.method = method();
  target();
  return cell_;
}

std::optional<CellReader::Found> CellReader::in_packages() const {
  std::optional<Found> best;
  for (const SaidMap* packages : {&image_.facts.pip, &image_.facts.conda}) {
    for (const auto& [name, said] : *packages) {
      std::string framework = framework_of_package(name);
      if (framework.empty()) continue;
      Found found{framework,
                  said.value.starts_with("==")      ? said.value.substr(2)
                  : packages == &image_.facts.conda ? said.value
                                                    : "",
                  said.line};
      if (!best || (best->version.empty() && !found.version.empty())) best = found;
    }
  }
  return best;
}

std::optional<CellReader::Found> CellReader::in_clones() const {
  for (const auto& [url, reference] : image_.facts.clones) {
    std::string name = lower_case(last_word(url));
    if (name.starts_with("incubator-")) name.erase(0, 10);
    std::string framework = framework_of_package(name);
    if (!framework.empty()) return Found{framework, leading_version(reference.value), reference.line};
  }
  return std::nullopt;
}

// What was built here, when nobody says which commit it was built of.
std::optional<CellReader::Found> CellReader::in_wheels() const {
  for (const auto& [name, said] : image_.facts.wheels)
    if (std::string framework = framework_of_package(name); !framework.empty())
      return Found{framework, said.value, said.line};
  return std::nullopt;
}

// A method, a graph compiler, a target or a version, and no part of what the image is called.
bool CellReader::says_something_else(const std::string& word) const {
  const std::size_t from = word.starts_with('v') ? 1 : 0;
  return !meaning(kMethods, word).empty() || contains(options_.compilers, word) || word == "cpu" ||
         word == "latest" || is_gpu_word(word) ||
         (word.size() > from && word.find_first_not_of("0123456789.", from) == std::string::npos);
}

std::string CellReader::name_of_file() const {
  std::string name;
  for (std::size_t at = 0; at < image_.stem.size();) {
    const std::size_t end = std::min(image_.stem.find_first_of("-_+", at), image_.stem.size());
    const std::string word = image_.stem.substr(at, end - at);
    if (!word.empty() && !says_something_else(word))
      name += (name.empty() || at == 0 ? "" : image_.stem.substr(at - 1, 1)) + word;
    at = end + 1;
  }
  if (name.empty()) name = words_.empty() ? "image" : words_[0];
  return component_name(name);
}

std::optional<CellReader::Found> CellReader::in_base() const {
  std::string plain = image_.base.value.substr(0, image_.base.value.find_first_of(":@"));
  std::string framework = framework_of_package(lower_case(last_word(plain)));
  if (framework.empty())
    framework = framework_of_package(lower_case(last_word(plain.substr(0, plain.rfind('/')))));
  if (framework.empty()) return std::nullopt;
  return Found{framework, leading_version(tag_of(image_.base.value)), image_.base.line};
}

void CellReader::framework_and_version() {
  Found found;
  for (auto where :
       {&CellReader::in_packages, &CellReader::in_clones, &CellReader::in_wheels, &CellReader::in_base}) {
    auto candidate = (this->*where)();
    if (!candidate) continue;
    if (found.framework.empty()) found = *candidate;
    if (found.version.empty() && found.framework == candidate->framework) found = *candidate;
  }
  cell_.framework = word_of(kFrameworks);
  if (cell_.framework.empty()) cell_.framework = found.framework;
  if (cell_.framework.empty()) cell_.framework = name_of_file();
  if (found.framework != cell_.framework || found.version.empty())
    if (Said pin = pinned_version(image_.facts, cell_.framework); !pin.value.empty())
      found = {cell_.framework, pin.value, pin.line};
  std::string named;
  for (const std::string& word : words_)
    if (named.empty() && !leading_version(word).empty() && contains(leading_version(word), '.'))
      named = leading_version(word);
  cell_.version = found.framework == cell_.framework ? found.version : "";
  cell_.version =
      cell_.version.substr(0, cell_.version.find_first_of("+=,; "));  // "1.4.0+cu100" is a wheel of 1.4.0
  if (!is_name(cell_.version) || cell_.version.size() > 40)
    cell_.version = leading_version(cell_.version.substr(0, 40));
  named = named.substr(0, 40);
  if (cell_.version.empty()) cell_.version = named;
  if (cell_.version.empty()) {
    cell_.version = "0";
    image_.note(0, "version", fmt::format("the version of {} is not known: it is called 0", cell_.framework));
  } else if (!named.empty() && !Version(named).covers(Version(cell_.version))) {
    image_.note(
        found.line, "version",
        fmt::format("the file's name says {} {}, it installs {}", cell_.framework, named, cell_.version));
  }
}

std::string CellReader::compiler() const {
  const std::vector<std::string>& known = options_.compilers;
  for (const std::string& word : words_) {
    std::string name = meaning(kCompilers, word);
    if (name.empty()) name = word;
    if (contains(known, name)) return name;
  }
  return "";
}

std::string CellReader::method() const {
  std::string named = word_of(kMethods);
  if (!named.empty()) return named;
  const std::string commands = image_.base_body + image_.build_body + image_.body;
  if (commands.empty()) return "hub";
  auto builds = [&](std::string_view word) { return contains(commands, word); };
  if (in_clones() || builds("bazel build") || builds("setup.py") || builds("cmake ") || builds("make -j"))
    return "source";
  if (!image_.facts.pip.empty()) return "pip";
  if (!image_.facts.conda.empty()) return "vendor";
  const bool clones = !image_.facts.clones.empty();
  if (builds("pip install") || builds("pip3 install")) return clones ? "source" : "pip";  // . or *.whl
  if (!image_.facts.packages.empty()) return "distro";
  return clones ? "source" : "hub";
}

bool CellReader::for_gpu() const {
  if (std::ranges::any_of(words_, is_gpu_word)) return true;
  for (const std::string& word : words_)
    if (word == "cpu") return false;
  std::string base = lower_case(image_.base.value);
  for (const char* word : {"cuda", "gpu", "rocm", "nvcr.io/nvidia/", "l4t-"})
    if (contains(base, word)) return true;
  return std::ranges::any_of(image_.facts.pip,
                             [](const auto& package) { return package.first.ends_with("-gpu"); });
}

// "6.1", "6.1;7.0+PTX", "gfx906,gfx90a".
bool CellReader::is_target(const std::string& accelerator) const {
  try {
    TargetBook(cpus_).get(options_.cpu + "," + accelerator, {});
    return true;
  } catch (const Error&) {
    return false;
  }
}

void CellReader::accelerators(const std::string& value) {
  std::string word;
  for (char c : value + ";") {
    if (is_letter_or_digit(c)) {
      word += c;
      continue;
    }
    if (c == '.') continue;
    bool nvidia = word.size() >= 2 && word.size() <= 3 && std::ranges::all_of(word, is_digit);
    std::string name = nvidia ? "nvidia:sm_" + word : word.starts_with("gfx") ? "amd:" + word : "";
    if (!name.empty() && !is_target(name)) name.clear();
    if (!name.empty() && !contains(cell_.accelerators, name)) cell_.accelerators.push_back(name);
    word.clear();
  }
}

void CellReader::target() {
  cell_.cpu = cpu_of_build(image_.facts, cpus_);
  if (cell_.cpu.empty()) cell_.cpu = options_.cpu;
  bool gpu = for_gpu();
  for (const auto& [name, said] : image_.facts.pip)
    if (!gpu && (name.ends_with("-gpu") || contains(said.value, "+cu")))
      image_.note(said.line, "gpu-wheel", fmt::format("'{}' is for GPUs, the image is not", name));
  if (!gpu) return;
  for (const std::string& value : gpus_of_build(image_.facts)) accelerators(value);
  if (!cell_.accelerators.empty()) return;
  cell_.accelerators = {options_.gpu};
  image_.note(0, "gpu-target", fmt::format("it does not say for which GPU it is: taken as {}", options_.gpu));
}

}  // namespace

std::string LegacyCell::target() const {
  return fmt::format("{}{}{}", cpu, accelerators.empty() ? "" : ",", fmt::join(accelerators, ","));
}

std::string component_name(std::string_view text) {
  std::string name;
  for (char c : lower_case(text)) {
    bool fits = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                ((c == '-' || c == '_' || c == '.') && !name.empty());
    if (fits) name += c;
  }
  while (contains(name, "..")) name.erase(name.find(".."), 1);
  if (name.empty() || name == "none" || kind_from(name)) name = "image" + (name.empty() ? "" : "-" + name);
  return name.substr(0, 100);
}

LegacyCell cell_of(LegacyImage& image, const ImportOptions& options, const Microarchitectures& cpus) {
  return CellReader(image, options, cpus).read();
}

}  // namespace kiln
