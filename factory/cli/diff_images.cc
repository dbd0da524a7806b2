#include "factory/cli/diff_images.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/visible_text.h"
#include "factory/cli/image_name.h"
#include "factory/cli/invocation.h"
#include "factory/cli/print.h"
#include "factory/cli/table.h"
#include "factory/cli/temporary_folder.h"
#include "factory/engine/architecture.h"
#include "factory/oci/image_diff.h"
#include "factory/oci/pull.h"

namespace kiln {
namespace {

bool has_transport(const std::string& text) {
  for (const char* prefix : {"oci:", "oci-archive:", "docker-archive:", "docker:"})
    if (text.starts_with(prefix)) return true;
  return false;
}

SourceImage open_image(const std::string& text, const fs::path& folder, Invocation& invocation) {
  ImageName name = name_of(text, invocation);
  need_source(name, invocation);
  if (name.transport == "docker") name = pull_image(name, own_architecture(), folder, invocation.skopeo());
  return SourceImage::open(name, own_architecture());
}

void print_table(const ImageDifference& difference) {
  for (const std::string& what : difference.configuration) say("configuration: {}\n", on_one_line(what));
  Table table({"FILE", "CHANGE", "WHAT", "MADE BY"});
  for (const FileDifference& file : difference.files)
    table.add({on_one_line(file.path), name_of(file.change),
               on_one_line(fmt::format("{}", fmt::join(file.what, ", "))), on_one_line(file.made_by)});
  if (!table.empty()) table.print();
  say("{} of {} files differ\n", difference.files.size(), difference.compared);
}

}  // namespace

bool names_image(const std::string& text, Invocation& invocation) {
  if (has_transport(text)) return true;
  if (text.find(':') == std::string::npos || invocation.files.exists(text)) return false;
  return invocation.has_index();
}

bool diff_images(const std::string& before, const std::string& now, bool as_json, Invocation& invocation) {
  TemporaryFolder first;
  TemporaryFolder second;
  ImageDifference difference = compare_images(open_image(before, first.path(), invocation),
                                              open_image(now, second.path(), invocation));
  if (as_json)
    print_json(to_json(difference));
  else
    print_table(difference);
  return !difference.empty();
}

}  // namespace kiln
