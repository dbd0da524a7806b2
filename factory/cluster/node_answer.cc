#include "factory/cluster/node_answer.h"

#include "factory/base/quote.h"
#include "factory/base/unique_name.h"

namespace kiln {

NodeAnswer answer_of_node(const std::vector<std::string>& command, const SlurmSite& site,
                          const SlurmPlace& place, const fs::path& folder, FileSystem& files,
                          const SlurmPrograms& programs) {
  const fs::path own = folder / unique_name();
  std::string script = "#!/bin/sh\nexec";
  for (const std::string& word : command) script += " " + shell_word(word);
  script += " >" + shell_word((own / "output").string()) + " 2>&1\n";
  files.write_output(own / "script", script);
  Command sbatch;
  sbatch.argv = {"sbatch", "--wait", "--quiet", "--ntasks=1", "--nodes=1", "--export=ALL"};
  for (std::string& word : place_words(site, place)) sbatch.argv.push_back(std::move(word));
  sbatch.argv.insert(sbatch.argv.end(),
                     {"--job-name=kiln-ask", "--output=/dev/null", (own / "script").string()});
  sbatch.environment = programs.environment;
  const CommandResult result = programs.runner.run(sbatch);
  NodeAnswer answer{result.status, files.read(own / "output").value_or("")};
  if (answer.output.empty()) answer.output = result.tail;
  files.remove_all(own);
  if (result.end != CommandEnd::exited)
    throw Error(ExitCode::images_failed, "sbatch was ended before the node answered");
  return answer;
}

}  // namespace kiln
