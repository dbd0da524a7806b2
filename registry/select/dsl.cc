#include "registry/select/dsl.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/text.h"
#include "factory/record/gpu_code.h"
#include "registry/select/dsl_words.h"

namespace kiln {
namespace {

VersionRange version_range(const JsonNode& node, const WrittenNumbers& numbers) {
  std::string text = scalar_text(node, numbers);
  if (text == "latest") return {};  // any: the newest wins anyway
  return node.placed([&] { return VersionRange::parse(text); });
}

class Reader {
 public:
  Reader(const Words& compilers, const WrittenNumbers& numbers) : numbers_(numbers) {
    for (const Words* names : {&dsl_words().graph_compilers, &compilers})
      for (const auto& name : *names)
        if (!contains(compilers_, lower_case(name))) compilers_.push_back(lower_case(name));
  }

  DslReading read(const JsonNode& root) {
    if (!root.is_object())
      root.fail("expected an object with 'job' or 'optimisation', found " + describe_type(root.value()));
    if (auto job = present(root, "job")) {
      note_unknown(root, {"job", "host"}, Part::choices);
      note_unknown(*job, dsl_words().job, Part::choices);
      read_host(root);
      read_job(*job);
    } else {
      note_unknown(root, dsl_words().document, Part::choices);
      read_job(root);
    }
    if (query_.application.empty()) {
      root.fail(kNamesNoApplication,
                "expected 'optimisation' with a framework or an MPI library, or 'application.app_tag'");
    }
    return std::move(reading_);
  }

 private:
  // What a part of the document says: which image, or how it is run, which no image depends on.
  enum class Part { choices, running };

  // A known word that ends in "-" stands for every key that starts with it. `chosen`: of a part about
  // running, the words that choose an image all the same.
  void note_unknown(const JsonNode& object, const Words& known, Part part, const Words& chosen = {}) {
    for (const auto& [key, value] : object.members()) {
      auto covers = [&name = key](const std::string& word) {
        return word == name || (word.ends_with('-') && name.starts_with(word) && name.size() > word.size());
      };
      if (key == "$schema" || std::ranges::any_of(known, covers)) continue;
      note_key(object, key, known, part == Part::choices || contains(chosen, nearest(key, known)));
    }
  }

  void note_key(const JsonNode& object, const std::string& key, const Words& known, bool may_be_choice) {
    reading_.notes.push_back({object.where_key(key), fmt::format("unknown key '{}'", key),
                              did_you_mean(key, known), may_be_choice});
  }

  // Of a part that no image depends on.
  void note_unknown_in(const JsonNode& parent, std::string_view key, const Words& known) {
    if (auto part = present(parent, key)) note_unknown(*part, known, Part::running);
  }

  void read_host(const JsonNode& parent) {
    if (auto host = present(parent, "host")) query_.host = *host;
  }

  void read_job(const JsonNode& job) {
    note_unknown_in(job, "job_options", dsl_words().job_options);
    if (auto target = present(job, "target")) {
      note_unknown(*target, dsl_words().target, Part::running, {"host"});
      read_host(*target);
      if (auto name = present(*target, "name"); name && !name->string().empty()) query_.target = *name;
    }
    read_host(job);
    std::string app_tag;
    if (auto application = present(job, "application")) {
      note_unknown(*application, dsl_words().application, Part::running, {"app_tag"});
      note_unknown_in(*application, "build", dsl_words().application_build);
      if (auto tag = present(*application, "app_tag")) app_tag = tag->line_of_text();
      if (auto type = present(*application, "app_type"); type && type->is_string())
        query_.mpi_ranks = type->string() == "mpi" || type->string() == "hpc";
    }
    if (auto optimisation = optimisation_of(job)) {
      read_optimisation(*optimisation, app_tag);
    } else {
      query_.application = app_tag;
    }
  }

  static std::optional<JsonNode> optimisation_of(const JsonNode& job) {
    auto british = present(job, "optimisation");
    auto american = present(job, "optimization");
    if (british && american) american->fail("'optimisation' is given as well", "remove one of them");
    return british ? british : american;
  }

  void read_optimisation(const JsonNode& node, const std::string& app_tag) {
    Words known = dsl_words().optimisation;
    for (const auto& type : dsl_words().app_types) known.push_back("app_type-" + type);
    known.insert(known.end(), dsl_words().older_optimisation.begin(), dsl_words().older_optimisation.end());
    note_unknown(node, known, Part::choices);
    note_unknown_in(node, "autotuning", dsl_words().autotuning);
    auto enabled = present(node, "enable_opt_build");
    query_.opt_build = enabled && flag(*enabled);
    if (auto tuning = present(node, "enable_autotuning")) query_.autotuning = flag(*tuning);
    if (auto workload = present(node, "workload")) query_.workload = workload->name();
    if (auto format = present(node, "format"))
      query_.format = word_of(*format, dsl_words().formats, "format");
    for (const char* key : {"opt_build", "arch_build"}) {
      auto build = present(node, key);
      if (!build) continue;
      read_opt_build(*build);
      if (!*query_.opt_build && forget_target()) note_unapplied(node, key);
    }
    query_.app_type = app_type(node);
    auto part = present(node, "app_type-" + query_.app_type);
    const OlderWords older = read_older_words(node);
    if (!part) {
      query_.application = app_tag.empty() ? older.name : app_tag;
      if (query_.application.empty() && !query_.app_type.empty())
        node.fail(fmt::format("expected the key 'app_type-{}'", query_.app_type));
    } else if (query_.app_type == "hpc") {
      read_hpc(*part, app_tag, older.name);
    } else if (query_.app_type == "big_data") {
      query_.application = app_tag.empty() ? older.name : app_tag;
    } else {
      read_ai(*part);
    }
    note_overruled(node, older);
  }

  // What `app_name` and `app_build` say; "" mostly.
  struct OlderWords {
    std::string name, version;
  };

  // What stands in the words of today counts.
  void note_overruled(const JsonNode& node, const OlderWords& older) {
    if (!older.name.empty() && older.name != lower_case(query_.application))
      reading_.notes.push_back(
          {node.where_key("app_name"),
           fmt::format("'app_name' is not used: the application is {}", query_.application), ""});
    if (!older.version.empty() && older.version != query_.version.text())
      reading_.notes.push_back(
          {node.where_key("app_build"),
           fmt::format("'app_build' is not used: the version is {}", query_.version.text()), ""});
  }

  OlderWords read_older_words(const JsonNode& node) {
    static const std::map<std::string, std::string> kNow = {
        {"arch_build", "opt_build"},
        {"app_name",
         "the framework in app_type-ai_training, the library in app_type-hpc, or application.app_tag"},
        {"app_build", "the version in the framework's or the library's part"}};
    for (const auto& [word, now] : kNow)
      if (present(node, word))
        reading_.notes.push_back(
            {node.where_key(word), fmt::format("'{}' is an older word of MODAK's", word), "write " + now});
    OlderWords older;
    if (auto build = present(node, "app_build")) {
      note_unknown(*build, {"version"}, Part::choices);
      if (auto version = present(*build, "version")) query_.version = version_range(*version, numbers_);
      if (!query_.version.is_any()) older.version = query_.version.text();
    }
    if (auto name = present(node, "app_name")) older.name = lower_case(name->name());
    return older;
  }

  // Not always written: then it is the part that is there.
  static std::string app_type(const JsonNode& optimisation) {
    if (auto named = present(optimisation, "app_type"))
      return word_of(*named, dsl_words().app_types, "app_type");
    for (const auto& type : dsl_words().app_types) {
      if (present(optimisation, "app_type-" + type)) return type;
    }
    return "";
  }

  void read_opt_build(const JsonNode& node) {
    note_unknown(node, dsl_words().opt_build, Part::choices);
    if (auto cpu = present(node, "cpu_type"))
      query_.cpu_type = word_of(*cpu, dsl_words().cpu_types, "cpu_type");
    if (auto acc = present(node, "acc_type"))
      query_.acc_type = word_of(*acc, dsl_words().acc_types, "acc_type");
    if (auto cpu = present(node, "cpu")) query_.cpu = cpu->name();
    if (auto gpu = present(node, "gpu")) read_gpu(*gpu);
    if (query_.acc_type == "none") query_.acc_type.clear();
  }

  // A GPU is an accelerator of its vendor, whether or not `acc_type` names that.
  void read_gpu(const JsonNode& gpu) {
    const std::string text = lower_case(gpu.line_of_text());
    if (text.empty()) return;
    const auto [vendor, code] = asked_gpu(text);
    if (!is_gpu_code(vendor, code))
      gpu.fail(fmt::format("expected a GPU, found '{}'", text), "for example sm_90 or gfx90a");
    if (query_.acc_type.empty()) query_.acc_type = vendor;
    if (query_.acc_type != vendor)
      gpu.fail(fmt::format("{} is a GPU of {}, and acc_type is {}", text, vendor, query_.acc_type),
               "remove one of them");
    query_.gpu = code;
  }

  // Without an optimised build MODAK looks neither at the target nor at the framework's options: the stock
  // image is asked for, whatever stands beside.
  void note_unapplied(const JsonNode& object, const std::string& key) {
    reading_.notes.push_back({object.where_key(key),
                              fmt::format("'{}' is not applied: the stock image is asked for", key),
                              "enable_opt_build: true asks for more"});
  }

  bool forget_target() {  // false: there was none
    bool any = false;
    for (std::string* word : {&query_.cpu_type, &query_.acc_type, &query_.cpu, &query_.gpu}) {
      any = any || !word->empty();
      word->clear();
    }
    return any;
  }

  void read_data(const JsonNode& part) {
    auto data = present(part, "data");
    if (!data) return;
    note_unknown(*data, dsl_words().data, Part::running);
    note_unknown_in(*data, "etl", dsl_words().etl);
  }

  void read_ai(const JsonNode& part) {
    note_unknown(part, {"config", "data", "ai_framework-"}, Part::choices);
    read_data(part);
    JsonNode config = part.at("config");
    note_unknown(config, dsl_words().ai_config, Part::running, {"ai_framework", "distributed_training"});
    query_.application = lower_case(config.at("ai_framework").name());
    if (auto distributed = present(config, "distributed_training"); distributed && flag(*distributed)) {
      query_.selectors["distributed_training"] = "true";
    }
    std::string wanted = "ai_framework-" + query_.application;
    for (const auto& [key, value] : part.members()) {
      if (!key.starts_with("ai_framework-") || value.is_null()) continue;
      if (lower_case(key) == wanted) {
        read_framework(part.at(key));
      } else {
        reading_.notes.push_back(
            {part.where_key(key),
             fmt::format("'{}' is not used: the framework is {}", key, query_.application), ""});
      }
    }
  }

  void read_framework(const JsonNode& node) {
    Words known = dsl_words().framework;
    known.insert(known.end(), compilers_.begin(), compilers_.end());
    const bool stock = !query_.opt_build.value_or(false);
    const auto selectors = query_.selectors;
    for (const auto& [key, value] : node.members()) {
      if (value.is_null()) continue;
      std::string word = lower_case(key);
      if (word == "version") {
        query_.version = version_range(value, numbers_);
      } else if (word == "method") {
        query_.method = lower_case(value.name());
      } else if (!contains(known, word) && !nearest(word, known).empty()) {
        note_key(node, key, known, true);  // a misspelling, not a further choice
      } else {
        read_option(word, value);
        const bool none = contains(compilers_, word) && !query_.compilers[word];
        if (stock && !none) note_unapplied(node, key);
      }
    }
    if (!stock) return;
    query_.compilers.clear();
    query_.selectors = selectors;
  }

  void read_option(const std::string& word, const JsonNode& value) {
    if (word == "compilers") {
      for (const auto& name : value.strings()) query_.compilers[lower_case(name)] = true;
    } else if (contains(compilers_, word)) {
      query_.compilers[word] = flag(value);
    } else {
      query_.selectors[word] = choice_text(value, numbers_);
    }
  }

  void read_hpc(const JsonNode& part, const std::string& app_tag, const std::string& app_name) {
    note_unknown(part, {"config", "data", "parallelisation-"}, Part::choices);
    read_data(part);
    std::string kind = "mpi";
    if (auto config = present(part, "config")) {
      note_unknown(*config, dsl_words().hpc_config, Part::choices);
      if (auto named = present(*config, "parallelisation")) kind = lower_case(named->name());
    }
    query_.application = app_tag;
    auto choices = present(part, "parallelisation-" + kind);
    if (choices) read_parallelisation(*choices, app_tag);
    if (query_.application.empty()) query_.application = app_name;
    if (query_.application.empty()) {
      (choices ? *choices : part)
          .fail(kNamesNoApplication, "expected 'library' in 'parallelisation-mpi', or 'application.app_tag'");
    }
  }

  void read_parallelisation(const JsonNode& node, const std::string& app_tag) {
    Words known = dsl_words().parallelisation_hints;
    known.insert(known.end(), {"library", "version", "method", "compiler"});
    for (const auto& [key, value] : node.members()) {
      if (value.is_null() || contains(dsl_words().parallelisation_hints, key)) continue;
      if (key == "version") {
        query_.version = version_range(value, numbers_);
      } else if (key == "method") {
        query_.method = lower_case(value.name());
      } else if (key == "library" && app_tag.empty()) {
        query_.application = lower_case(value.name());
      } else if (!contains(known, key) && !nearest(key, known).empty()) {
        note_key(node, key, known, true);
      } else {
        query_.selectors[key] = choice_text(value, numbers_);
      }
    }
  }

  DslReading reading_;
  ImageQuery& query_ = reading_.query;
  Words compilers_;
  const WrittenNumbers& numbers_;
};

}  // namespace

std::string text_of(const DslNote& note) {
  return fmt::format("{}:{}:{}: note: {} (at {}){}{}", note.where.file, note.where.line, note.where.column,
                     note.message, note.where.pointer, note.hint.empty() ? "" : "; ", note.hint);
}

bool has_own_launcher(std::string_view framework) {
  return framework == "pytorch" || framework == "tensorflow";
}

std::pair<std::string, std::string> asked_gpu(const std::string& text) {
  if (text.starts_with("gfx")) return {"amd", text};  // its modes stand behind a colon, too
  auto [vendor, gpu] = split_accelerator(text);
  if (!gpu.empty()) return {vendor, gpu};
  return {"nvidia", text};
}

void refuse_lost_choices(const DslReading& reading) {
  for (const DslNote& note : reading.notes)
    if (note.may_be_choice)
      throw Error(ExitCode::input, note.where, note.message,
                  note.hint.empty() ? "--lenient answers without it" : note.hint);
}

DslReading read_dsl(const JsonDocument& document, const std::vector<std::string>& compilers,
                    const WrittenNumbers& numbers) {
  return Reader(compilers, numbers).read(document.root());
}

}  // namespace kiln
