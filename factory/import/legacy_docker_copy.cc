// COPY and ADD of a Dockerfile: from build stages, from the folder, from heredocs and URLs.
#include <fmt/format.h>

#include "factory/base/quote.h"
#include "factory/base/text.h"
#include "factory/import/docker_import.h"

namespace kiln {

void DockerfileImport::copy(const DockerInstruction& one, std::size_t stage) {
  for (const DockerFlag& flag : one.flags)
    if (flag.name == "chown" || flag.name == "chmod")
      image_.note(flag.place.line, "owner",
                  fmt::format("--{}={}: the files belong to root", flag.name, flag.value));
  if (one.flag("from") != nullptr) return copy_from_stage(one, stage);
  copy_local(one);
}

// The build stage is carried over with what is copied from it; another place of the copy is made there.
void DockerfileImport::copy_from_stage(const DockerInstruction& one, std::size_t stage) {
  const DockerFlag& flag = *one.flag("from");
  auto from = file_.copied_stage(flag.value, stage);
  if (!from || building_) {
    image_.note(
        one.place.line, "copy-from",
        fmt::format("--from={}: {}", flag.value, from ? "a copy between build stages" : "another image"));
    return;
  }
  const DockerStage& first = file_.stages[chain(*from).front()];
  image_.note_build_base(base_of(first), first.from.place.line);
  std::string build = read_chain(*from, true);
  std::string moves;
  std::string to = absolute(expand(one.words.back().text, one.place));
  for (std::size_t i = 0; i + 1 < one.words.size(); ++i) {
    std::string source = expand(one.words[i].text, one.place);
    if (!source.starts_with('/')) source = "/" + source;
    while (source.size() > 1 && source.ends_with('/')) source.pop_back();
    std::string target = to;
    if (target.ends_with('/') && target.size() > 1) target += source.substr(source.rfind('/') + 1);
    bool plain = source != "/" && target != "/" && source.find_first_of("*?[") == std::string::npos;
    if (!plain) {
      image_.note(one.place.line, "copy-from",
                  fmt::format("'{}' cannot be copied from a build stage", source));
      continue;
    }
    if (source != target) moves += move_path(source, target);
    image_.copies.push_back(target);
  }
  if (!contains(image_.build_body, build)) image_.build_body += build;
  image_.build_body += moves;
}

void DockerfileImport::copy_local(const DockerInstruction& one) {
  std::string destination = absolute(expand(one.words.back().text, one.place));
  script_.comment(one.place.line, name_of(one.verb));
  for (const DockerHeredoc& one_file : one.heredocs) heredoc(one, one_file, destination);
  if (!one.heredocs.empty()) return;
  for (std::size_t i = 0; i + 1 < one.words.size(); ++i) {
    std::string source = expand(one.words[i].text, one.place);
    if (contains(source, "://")) {
      add_url(one, source, destination);
      continue;
    }
    for (const std::string& one_source : matching_sources(tree_, image_, source))
      copy_or_add(one, one_source, destination);
  }
}

void DockerfileImport::heredoc(const DockerInstruction& one, const DockerHeredoc& heredoc,
                               const std::string& destination) {
  auto lookup = [&](std::string_view name) { return value_of(name, heredoc.place); };
  const std::string content =
      heredoc.expand ? expand_docker_heredoc(heredoc.content, lookup, file_.escape, image_.path, one.place)
                     : heredoc.content;
  script_.add(fmt::format(
      "{}\nprintf '%s' {} >{}", make_folder_of(destination), shell_text_word(image_value("", content, base_)),
      shell_text_word(destination.ends_with('/') ? destination + heredoc.name : destination)));
}

void DockerfileImport::copy_or_add(const DockerInstruction& one, const std::string& source,
                                   const std::string& destination) {
  std::string file = copy_from_tree(tree_, image_, source, one.place.line);
  if (file.empty()) return;
  bool folder = !image_.files.contains(file);
  bool unpacks = one.verb == DockerVerb::add && contains(file, ".tar");
  std::string parent = destination.ends_with('/') || folder || unpacks
                           ? destination
                           : destination.substr(0, destination.rfind('/') + 1);
  script_.add(fmt::format("mkdir -p {}", shell_text_word(parent)));
  if (unpacks)
    return script_.add(fmt::format("tar -C {} -xf \"$kiln_files\"/{}", shell_text_word(destination), file));
  script_.add(
      fmt::format("cp -R \"$kiln_files\"/{}{} {}", file, folder ? "/." : "", shell_text_word(destination)));
  if (std::string more = make_runnable(image_, file, destination); !more.empty()) script_.add(more);
}

void DockerfileImport::add_url(const DockerInstruction& one, const std::string& url,
                               const std::string& destination) {
  const DockerFlag* checksum = one.flag("checksum");
  image_.facts.downloads[url] = {checksum == nullptr ? "" : checksum->value, one.place.line};
  if (checksum == nullptr)
    image_.note(one.place.line, "no-checksum", fmt::format("{} is downloaded without a checksum", url));
  std::string file = destination.ends_with('/') ? destination + url.substr(url.rfind('/') + 1) : destination;
  script_.add(fmt::format("{}\ncurl -fsSL -o {} {}", make_folder_of(file), shell_text_word(file),
                          shell_text_word(url)));
  if (checksum != nullptr && checksum->value.starts_with("sha256:"))
    script_.add(
        fmt::format("echo {} | sha256sum -c -", shell_text_word(checksum->value.substr(7) + "  " + file)));
}

}  // namespace kiln
