// The body of a question: a document, and what hosts are named by those who ask from elsewhere.
#pragma once

#include <string>

#include "factory/base/error.h"

namespace kiln {

// The document and the host of a body: the DSL itself, or {"dsl": …, "host": …}.
struct AskedBody {
  std::string document;
  std::string host{};
  bool wrapped = false;  // the document is a part of the body
};

AskedBody read_body(const std::string& body);  // throws Error(input)

// This machine is nobody's host who asks from elsewhere, and no host is read from a file. Throws
// Error(usage).
std::string host_name(const std::string& name);

// With the place in the whole body. The host of a body was written again: its lines and columns are those of
// nobody's text.
Error in_body(const Error& error, bool wrapped);

}  // namespace kiln
