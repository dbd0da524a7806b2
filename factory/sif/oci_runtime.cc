#include "factory/sif/oci_runtime.h"

#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "factory/base/quote.h"
#include "factory/base/reading.h"

namespace kiln {

// The files of factory/sif/singularity.d, by name.
std::map<std::string_view, std::string_view> embedded_runtime_scripts();

namespace sif {
namespace {

std::string shell_words(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += " " + quote_shell_text(word);
  return line;
}

// Friday_20_November_2026_11:6:8_UTC, the form that Apptainer writes.
std::string build_date(std::int64_t seconds) {
  std::time_t time = seconds;
  std::tm utc{};
  ::gmtime_r(&time, &utc);
  static constexpr const char* kDays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                          "Thursday", "Friday", "Saturday"};
  static constexpr const char* kMonths[] = {"January",   "February", "March",    "April",
                                            "May",       "June",     "July",     "August",
                                            "September", "October",  "November", "December"};
  return fmt::format("{}_{}_{}_{}_{}:{}:{}_UTC", kDays[utc.tm_wday], utc.tm_mday, kMonths[utc.tm_mon],
                     utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

std::string without_last_newline(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

class Adder {
 public:
  Adder(ImageTree& tree, ContentSink& sink, std::uint16_t layer, std::int64_t time)
      : tree_(tree),
        sink_(sink),
        layer_(layer),
        time_(static_cast<std::uint32_t>(std::clamp<std::int64_t>(time, 0, UINT32_MAX))) {}

  void folder(std::string_view path) {
    if (!tree_.lookup_followed(path)) add(path, EntryKind::folder, 0755, kNone);
  }
  void link(std::string_view path, std::string_view target) {
    if (!tree_.lookup(path)) add(path, EntryKind::symlink, 0777, tree_.add_string(target));
  }
  void file(std::string_view path, std::string_view text, std::uint16_t mode) {
    std::uint32_t content = sink_.begin_file();
    sink_.append(text);
    sink_.end_file();
    add(path, EntryKind::file, mode, content);
  }

 private:
  void add(std::string_view path, EntryKind kind, std::uint16_t mode, std::uint32_t payload) {
    Inode inode;
    inode.path = tree_.paths().insert_path(path);
    inode.kind = kind;
    inode.mode = mode;
    inode.payload = payload;
    inode.mtime = time_;
    inode.layer = layer_;
    try {
      tree_.apply(tree_.add_inode(inode));
    } catch (const Error& error) {
      throw Error(error.code(),
                  fmt::format("cannot add /{} to the image: it {}", std::string(path), error.message()));
    }
  }

  ImageTree& tree_;
  ContentSink& sink_;
  std::uint16_t layer_;
  std::uint32_t time_;
};

}  // namespace

// Apptainer sources env/*.sh in the order of their names, then hands over to actions/<what was asked>.
// /.singularity.d/libs is where it binds the host's GPU libraries. An image may hold several SCIF
// applications; APPTAINER_APPNAME chooses one. An instance's first process waits for SIGCONT before it goes
// on.
const std::vector<std::string>& runtime_scripts() {
  static const std::vector<std::string> kPaths = {
      "actions/exec",   "actions/run",    "actions/shell",         "actions/start",
      "actions/test",   "env/01-base.sh", "env/90-environment.sh", "env/94-appsbase.sh",
      "env/95-apps.sh", "env/99-base.sh", "env/99-runtimevars.sh", "startscript"};
  return kPaths;
}

std::string runtime_script(const std::string& path) {
  return std::string(embedded_runtime_scripts().at(path.substr(path.rfind('/') + 1)));
}

// The host's value of a variable wins over the image's, but for PATH; so it is when Apptainer converts.
std::string environment_script(const ImageConfig& config) {
  std::string script = "#!/bin/sh\n";
  for (const std::string& entry : config.env) {
    std::size_t equals = entry.find('=');
    std::string name = entry.substr(0, equals);
    if (!is_variable_name(name)) continue;  // the shell could not hold it
    std::string value = equals == std::string::npos ? "" : entry.substr(equals + 1);
    if (name == "PATH")
      script += fmt::format("export PATH={}\n", quote_shell_text(value));
    else
      script += fmt::format("test -n \"${{{}:-}}\" || {}={}\nexport {}\n", name, name,
                            quote_shell_text(value), name);
  }
  return script;
}

// Apptainer lets the shell look at the arguments once more, unless SINGULARITY_NO_EVAL is set; the image's
// own words follow as they are.
std::string run_script(const ImageConfig& config) {
  std::string script = runtime_script("runscript");
  if (!config.cmd.empty()) script += fmt::format("test $# -gt 0 || set --{}\n", shell_words(config.cmd));
  if (!config.entrypoint.empty()) script += fmt::format("set --{} \"$@\"\n", shell_words(config.entrypoint));
  return script + "exec \"$@\"\n";
}

std::string definition_file(const RuntimeOptions& options) {
  return fmt::format("bootstrap: {}\nfrom: {}\n\n", options.bootstrap, options.from);
}

std::map<std::string, std::string> image_labels(const ImageConfig& config, const RuntimeOptions& options) {
  std::map<std::string, std::string> labels = config.labels;
  labels["org.label-schema.schema-version"] = "1.0";
  labels["org.label-schema.build-arch"] = config.architecture;
  labels["org.label-schema.build-date"] = build_date(options.build_time);
  labels["org.label-schema.usage.kiln.version"] = options.tool;
  labels["org.label-schema.usage.singularity.deffile.bootstrap"] = options.bootstrap;
  labels["org.label-schema.usage.singularity.deffile.from"] = options.from;
  return labels;
}

std::string inspect_metadata(const ImageConfig& config, const RuntimeOptions& options) {
  std::string folder = "/.singularity.d/env/";
  Json attributes{
      {"deffile", without_last_newline(definition_file(options))},
      {"environment",
       {{folder + "10-docker2singularity.sh", without_last_newline(environment_script(config))},
        {folder + "90-environment.sh", without_last_newline(runtime_script("env/90-environment.sh"))}}},
      {"labels", image_labels(config, options)},
      {"runscript", without_last_newline(run_script(config))},
      {"startscript", without_last_newline(runtime_script("startscript"))}};
  return Json{{"data", {{"attributes", attributes}}}, {"type", "container"}}.dump();
}

void add_runtime_files(const ImageConfig& config, const RuntimeOptions& options, std::uint16_t layer,
                       ImageTree& tree, ContentSink& sink) {
  Adder add(tree, sink, layer, options.build_time);
  for (const char* path :
       {".singularity.d", ".singularity.d/libs", ".singularity.d/actions", ".singularity.d/env", "dev",
        "proc", "root", "var", "var/tmp", "tmp", "etc", "sys", "home"})
    add.folder(path);
  add.link("singularity", ".singularity.d/runscript");
  add.link("environment", ".singularity.d/env/90-environment.sh");
  for (const char* action : {"run", "exec", "test", "shell"})
    add.link(fmt::format(".{}", action), fmt::format(".singularity.d/actions/{}", action));
  add.file("etc/hosts", "", 0644);
  add.file("etc/resolv.conf", "", 0644);
  for (const std::string& path : runtime_scripts())
    add.file(".singularity.d/" + path, runtime_script(path), 0755);
  add.file(".singularity.d/env/10-docker2singularity.sh", environment_script(config), 0755);
  add.file(".singularity.d/runscript", run_script(config), 0755);
  add.file(".singularity.d/Singularity", definition_file(options), 0644);
  add.file(".singularity.d/labels.json", Json(image_labels(config, options)).dump(1, '\t'), 0644);
}

}  // namespace sif
}  // namespace kiln
