#include "factory/cli/question.h"

#include <fmt/format.h>

#include "factory/base/reading.h"
#include "factory/base/text.h"
#include "registry/select/demand.h"

namespace kiln {

void refuse_one_stdin(const std::string& dsl, const std::string& host) {
  if (dsl == "-" && host == "-")
    throw Error(ExitCode::usage, "--dsl - and --host - do not go together", "stdin is one document");
}

WrittenDocument read_written_document(const std::string& file, const FileSystem& files) {
  const bool is_stdin = file == "-";
  std::optional<std::string> text;
  if (is_stdin || !files.is_directory(file))
    text = files.read(is_stdin ? "/dev/stdin" : file, JsonLimits{}.bytes);
  if (!text && !is_stdin) return {read_document(files, file), {}};  // says what is wrong
  return {JsonDocument::parse(text.value_or(""), is_stdin ? "stdin" : file),
          written_numbers(text.value_or(""))};
}

Question read_asked(const WrittenDocument& document, const QuestionTerms& terms, const Index* index,
                    const std::vector<std::string>& matrices, const Invocation& invocation) {
  auto of_index = index != nullptr ? index->compilers(terms.snapshot) : std::vector<std::string>{};
  return read_question(document.document,
                       {invocation.graph_compilers(of_index, matrices), invocation.stock_compilers(matrices)},
                       terms, document.numbers);
}

Answer Asking::ask(bool explained, Invocation& invocation) const {
  return kiln::ask(index ? &*index : nullptr, question, explained, invocation.cpus());
}

Asking read_asking(const WrittenDocument& document, const QuestionTerms& terms,
                   const std::vector<std::string>& matrices, const Invocation& invocation) {
  Asking asking;
  auto read = [&] {
    return read_asked(document, terms, asking.index ? &*asking.index : nullptr, matrices, invocation);
  };
  // Without an index, what is wrong in the document is still the first thing to mend.
  if (!invocation.has_index()) asking.question = read();
  if (invocation.has_index() || matrices.empty() || terms.snapshot)
    asking.index.emplace(invocation.index(Index::Mode::read));
  asking.question = read();
  return asking;
}

ReferencePaths reference_paths(const Invocation& invocation) {
  return {invocation.state().root(), value_or(invocation.environment, "SINGULARITY_DIR")};
}

void count_question(const Question& question, const Selection& selection, Invocation& invocation) {
  const std::string day = rfc3339(invocation.clock.unix_seconds()).substr(0, 10);
  if (auto demand = demand_of(question, selection, invocation.cpus(), day))
    record_demand(invocation.state().root(), *demand);
}

namespace {

QuestionHost written_host(const std::string& option, const HostBook& book, const Invocation& invocation) {
  if (option == "-")
    return described_host(
        JsonDocument::parse(invocation.files.read("/dev/stdin", JsonLimits{}.bytes).value_or(""), "stdin"),
        book);
  if (invocation.files.exists(option)) return described_host(read_document(invocation.files, option), book);
  if (option.find('/') != std::string::npos || option.ends_with(".json")) invocation.need_file(option);
  try {
    return named_host(option, {"--host", 0, 0, ""}, book);
  } catch (const Error& error) {
    if (!error.hint().empty() || error.where().file != "--host") throw;
    throw Error(ExitCode::input, fmt::format("--host '{}' is no file and names no target", option),
                "a file that `kiln host` wrote, an archspec name, a target, here, or any");
  }
}

}  // namespace

QuestionHost choose_host(const std::string& option, const ImageQuery& query, Invocation& invocation) {
  const HostBook book{invocation.files, invocation.cpus()};
  if (option == "any" || option == "here") return named_host(option, {"--host", 0, 0, ""}, book);
  return option.empty() ? host_of_question(query, UnsaidHost::here, book)
                        : written_host(option, book, invocation);
}

}  // namespace kiln
