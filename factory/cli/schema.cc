// kiln schema: the JSON Schemas of the file formats, for editors.
#include "factory/recipe/schema.h"

#include <fmt/format.h>

#include "factory/cli/invocation.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"

namespace kiln {

CLI::App* add_schema(CLI::App& app, Invocation&) {
  auto name = std::make_shared<std::string>();
  CLI::App* command = add_below(app, "schema", "Print the JSON Schema of a file format",
                                "kiln schema recipe >recipe.schema.json");
  add_choice(*command, "name", *name, schema_names(), fmt::format("{}", fmt::join(schema_names(), ", ")))
      ->required();
  command->callback([name] { print_bytes(schema_text(*name)); });
  return command;
}

}  // namespace kiln
