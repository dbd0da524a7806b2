#include "factory/base/unexpected.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <system_error>
#include <typeinfo>

namespace kiln {
namespace {

// "nlohmann::detail::type_error": for whoever mends it.
std::string type_of(const std::exception& exception) {
  const char* name = typeid(exception).name();
  const std::unique_ptr<char, void (*)(void*)> readable(abi::__cxa_demangle(name, nullptr, nullptr, nullptr),
                                                        std::free);
  return readable ? readable.get() : name;
}

std::string hint_for(int number) {
  if (number == ENOSPC || number == EDQUOT)
    return "free some space on that file system and run the command again";
  if (number == EACCES || number == EPERM || number == EROFS) return "check the owner and the mode";
  if (number == EAGAIN || number == EMFILE || number == ENFILE)
    return "this user has too many processes or open files: see ulimit -a";
  return "";
}

Error refused(const std::string& what, int number) {
  return {ExitCode::store, fmt::format("{}: {}", what, std::strerror(number)), hint_for(number)};
}

Error mistake(const std::string& what) {
  return {ExitCode::internal, fmt::format("kiln made a mistake ({})", what),
          "what is built and published is as it was; please report the command and what it was given"};
}

}  // namespace

Error unexpected_error(const std::exception& exception) {
  if (auto* error = dynamic_cast<const Error*>(&exception)) return *error;
  if (auto* error = dynamic_cast<const std::filesystem::filesystem_error*>(&exception))
    return refused(fmt::format("cannot use {}", error->path1().empty() ? "a file" : error->path1().string()),
                   error->code().value());
  if (auto* error = dynamic_cast<const std::system_error*>(&exception))
    return refused("the operating system refused to go on", error->code().value());
  if (dynamic_cast<const std::bad_alloc*>(&exception) != nullptr)
    return {ExitCode::store, "out of memory", "fewer jobs at a time (-j) need less"};
  return mistake(type_of(exception));
}

Error unexpected_error() {
  try {
    throw;
  } catch (const std::exception& exception) {
    return unexpected_error(exception);
  } catch (...) {
    return mistake("an exception of an unknown type");
  }
}

}  // namespace kiln
