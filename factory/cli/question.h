// Shared by the commands that ask the index: the document, the host, the places of images, and the count of
// questions.
#pragma once

#include <string>

#include "factory/base/json.h"
#include "factory/cli/invocation.h"
#include "registry/answer/answer.h"

namespace kiln {

// A document, and what its text has of its numbers.
struct WrittenDocument {
  JsonDocument document;
  WrittenNumbers numbers;
};

// Throws Error(usage) when both --dsl and --host are "-": stdin is one document.
void refuse_one_stdin(const std::string& dsl, const std::string& host);

// `file`: "-" for stdin. Throws Error(input).
WrittenDocument read_written_document(const std::string& file, const FileSystem& files);

// The question that it asks, with the host to be chosen by the caller. `index`: nullptr = there is none.
Question read_asked(const WrittenDocument& document, const QuestionTerms& terms, const Index* index,
                    const std::vector<std::string>& matrices, const Invocation& invocation);

// The question, and the index that answers it.
struct Asking {
  Question question;
  std::optional<Index> index{};  // not yet made, and matrices are given

  Answer ask(bool explained, Invocation& invocation) const;
};

// The same with the index of the state folder; the host is the caller's to choose. Throws Error(store) for a
// state folder without an index, unless `matrices` are given.
Asking read_asking(const WrittenDocument& document, const QuestionTerms& terms,
                   const std::vector<std::string>& matrices, const Invocation& invocation);

ReferencePaths reference_paths(const Invocation& invocation);

// Counts the question for `kiln index demand`, unless it names a snapshot.
void count_question(const Question& question, const Selection& selection, Invocation& invocation);

// `option` is what --host says: a file, "-" for stdin, "here", "any", or the name of a target; "" = nothing
// was said, and the document decides, else this machine. Throws Error(input) for an invalid description of a
// host.
QuestionHost choose_host(const std::string& option, const ImageQuery& query, Invocation& invocation);

}  // namespace kiln
