// kiln serve token: a token for who may write, told once; the file has its hash.
#include "factory/cli/serve_token.h"

#include <fmt/format.h>

#include <cstring>

#include "factory/base/line_file.h"
#include "factory/cli/invocation.h"
#include "factory/cli/print.h"
#include "registry/serve/tokens.h"

namespace kiln {
namespace {

struct TokenOptions {
  std::string file;
  std::string name;
};

void run_token(const TokenOptions& options, Invocation& invocation) {
  if (invocation.files.exists(options.file)) TokenBook::read(invocation.files, options.file);
  const NewToken made = make_token(options.name);
  LineFile file(options.file, std::chrono::seconds(5));
  if (!file.is_open() || !file.append(made.line) || !file.sync())
    throw Error(ExitCode::store, fmt::format("cannot write to {}: {}", options.file, std::strerror(errno)));
  say("{}\n", made.token);
  invocation.note("it is not told again; a kiln serve that runs takes it after SIGHUP");
}

}  // namespace

void add_serve_token(CLI::App& serve, Invocation& invocation) {
  auto options = std::make_shared<TokenOptions>();
  CLI::App* command = serve.add_subcommand("token", "Make a token that permits writing, and print it once");
  command->fallthrough();
  command->add_option("--tokens", options->file, "file to store its hash in")->required()->type_name("FILE");
  command->add_option("--name", options->name, "name of its owner, one word")->required()->type_name("NAME");
  command->footer("kiln serve token --tokens /etc/kiln/tokens --name ci");
  command->callback([options, &invocation] { run_token(*options, invocation); });
}

}  // namespace kiln
