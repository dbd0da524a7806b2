#include "registry/answer/chooser.h"

#include "factory/base/error.h"
#include "factory/recipe/recipe.h"

namespace kiln {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMostIdle = 16;  // indexes that are kept open between questions

Microarchitectures read_cpus(const FileSystem& files, const fs::path& file) {
  const auto bytes = files.read(file);
  if (!bytes) throw Error(ExitCode::tool_missing, "archspec's tables are missing: " + file.string());
  return Microarchitectures::parse(*bytes, file.string());
}

std::string explanation(const Answer& answer, std::size_t limit) {
  return explain(answer.selection, limit) + text_of(answer.others);
}

}  // namespace

ImageChooser::ImageChooser(ChooserPaths paths)
    : paths_(std::move(paths)),
      cpus_(read_cpus(files_, paths_.archspec)),
      recipe_compilers_{recipe_names(files_, paths_.recipes, Kind::compiler),
                        stock_compilers(files_, paths_.recipes)},
      resident_(cpus_) {}

std::optional<ImageChooser::OpenIndex> ImageChooser::reuse_idle(const IndexIdentity& file) {
  const std::lock_guard held(lock_);
  // An index that was made again is another file under the same name.
  std::erase_if(idle_, [&](const OpenIndex& open) {
    return open.file.device != file.device || open.file.inode != file.inode;
  });
  if (idle_.empty()) return std::nullopt;
  OpenIndex open = std::move(idle_.back());
  idle_.pop_back();
  return open;
}

bool ImageChooser::with_index(const std::function<void(const Index& index)>& use) {
  const IndexIdentity file = identity();
  if (file == IndexIdentity{}) return false;
  std::optional<OpenIndex> open = reuse_idle(file);
  if (!open) open.emplace(OpenIndex{file, Index::open(paths_.state, Index::Mode::read)});
  use(open->index);
  const std::lock_guard held(lock_);
  if (idle_.size() < kMostIdle) idle_.push_back(*std::move(open));
  return true;
}

GraphCompilers ImageChooser::compilers(const Index* index, std::optional<std::int64_t> snapshot) const {
  std::set<std::string> names(recipe_compilers_.names.begin(), recipe_compilers_.names.end());
  if (index != nullptr)
    for (std::string& name : index->compilers(snapshot)) names.insert(std::move(name));
  return {{names.begin(), names.end()}, recipe_compilers_.stock};
}

QuestionHost ImageChooser::host_of(const ChooserQuestion& question, const ImageQuery& query) const {
  const HostBook book{files_, cpus_, paths_.targets};
  if (question.host.empty()) return host_of_question(query, question.unsaid, book);
  if (question.host.starts_with('{')) return described_host(JsonDocument::parse(question.host, "host"), book);
  return named_host(question.host, {"host", 0, 0, ""}, book);
}

void ImageChooser::answer(const ChooserQuestion& asked, const Index* index, const IndexIdentity& file,
                          ChooserReply& reply) {
  const JsonDocument document = JsonDocument::parse(std::string(asked.document), asked.name);
  Question question = read_question(document, compilers(index, asked.terms.snapshot), asked.terms,
                                    written_numbers(asked.document));
  for (const DslNote& note : question.reading.notes) reply.notes.push_back(text_of(note));
  question.host = host_of(asked, question.reading.query);
  if (!question.host.note.empty()) reply.notes.push_back(question.host.note);
  if (index == nullptr) Index::open(paths_.state, Index::Mode::read);  // throws, in its words
  if (index != nullptr) reply.snapshot = question.terms.snapshot.value_or(index->current());
  const Answer answer = ask(index, question, asked.explained, cpus_,
                            [&](const Index& open, const ImageQuery& query, const Host& host) {
                              return resident_.best(open, file, query, host);
                            });
  reply.demand = demand_of(question, answer.selection, cpus_, "");
  reply.answer = to_json(answer, question, asked.limit);
  reply.text = asked.explained ? explanation(answer, asked.limit) : "";
  if (!answer.selection.winner) {
    reply.error = no_match(answer, question, "", "the index is empty: run `kiln publish`");
    return;
  }
  reply.reference = reference_of(answer.selection.winner->entry->image, question.reading.query.format,
                                 {paths_.state, paths_.sif_folder});
  reply.answer["answer"] = reply.reference;
  if (!asked.with_image) return;
  const IndexEntry& chosen = *answer.selection.winner->entry;
  reply.image = chosen.image;
  reply.tuned = tuned_for(question.reading.query, chosen, question.host.host);
}

ChooserReply ImageChooser::choose(const ChooserQuestion& question) {
  ChooserReply reply;
  try {
    const IndexIdentity file = identity();
    if (!with_index([&](const Index& index) { answer(question, &index, file, reply); }))
      answer(question, nullptr, file, reply);
  } catch (const std::exception& exception) {
    reply.error = unexpected_error(exception);
  }
  if (reply.error) reply.code = reply.error->code();
  return reply;
}

}  // namespace kiln
