// kiln_registry for C++17: the C interface (kiln_registry.h) with owners, options by name, and exceptions.
// Only a header, so that another compiler than that of the library may compile it.
//
//     kiln_registry_cpp::Registry registry("/srv/kiln");
//     std::string image = registry.reference(dsl);
#pragma once

#include <kiln_registry.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace kiln_registry_cpp {

// Thrown unless a call ends with KILN_DONE. The text of what() is for people: "error: no image matches; …".
class Error : public std::runtime_error {
 public:
  Error(int status, const std::string& what, std::string answer = {})
      : std::runtime_error(what), status_(status), answer_(std::move(answer)) {}
  int status() const { return status_; }  // of kiln_status
  // The answer of KILN_NO_MATCH, as JSON or as reasons; otherwise "".
  const std::string& answer() const { return answer_; }

 private:
  int status_;
  std::string answer_;
};

// Options of a question in addition to the document; "" and 0 mean the default.
struct Terms {
  std::string host{};         // a description (JSON), "here", "any", or the name of a target
  std::string format{};       // tag, digest, oci, sif
  std::int64_t snapshot = 0;  // 0: the current one
  bool allow_failing = false;
  bool lenient = false;
  std::uint32_t limit = 0;  // 0: 20
};

// Options of a job in addition to the document; "" and 0 mean the default.
struct JobTerms {
  std::string host{};
  std::string infrastructure{};  // its name in the index, or its JSON
  std::string scheduler{};       // slurm, torque, openpbs, bash
  std::string runtime{};         // apptainer, singularity, …
  std::int64_t snapshot = 0;     // 0: the current one
  bool allow_failing = false;
  bool lenient = false;
};

class Registry {
 public:
  // `share`: kiln's installed files; "": next to the library.
  explicit Registry(const std::string& state, const std::string& share = "") {
    kiln_open_options options{};
    options.size = sizeof options;
    options.share = share.empty() ? nullptr : share.c_str();
    char* error = nullptr;
    const int status = kiln_registry_open(state.c_str(), &options, &registry_, &error);
    check(status, Text(), Text(error));
  }
  Registry(Registry&& other) noexcept : registry_(std::exchange(other.registry_, nullptr)) {}
  Registry& operator=(Registry&& other) noexcept {
    std::swap(registry_, other.registry_);
    return *this;
  }
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;
  ~Registry() { kiln_registry_close(registry_); }

  // Returns the reference, as `kiln select` prints it.
  std::string reference(std::string_view dsl, const Terms& terms = {}) const {
    return ask(kiln_registry_reference, dsl, terms);
  }
  // Returns JSON, as `kiln select --json` prints it.
  std::string select(std::string_view dsl, const Terms& terms = {}) const {
    return ask(kiln_registry_select, dsl, terms);
  }
  // Returns the reasons, as `kiln select --explain` prints them.
  std::string explain(std::string_view dsl, const Terms& terms = {}) const {
    return ask(kiln_registry_explain, dsl, terms);
  }
  // Returns JSON, as `kiln job --json` prints it, with the text of the script in `job_script`.
  std::string job(std::string_view dsl, const JobTerms& terms = {}) const {
    auto text = [](const std::string& word) { return word.empty() ? nullptr : word.c_str(); };
    kiln_job_options options{};
    options.size = sizeof options;
    options.host = text(terms.host);
    options.infrastructure = text(terms.infrastructure);
    options.scheduler = text(terms.scheduler);
    options.runtime = text(terms.runtime);
    options.snapshot = terms.snapshot;
    options.flags = (terms.allow_failing ? unsigned{KILN_ALLOW_FAILING} : 0u) |
                    (terms.lenient ? unsigned{KILN_LENIENT} : 0u);
    char *answer = nullptr, *error = nullptr;
    const int status = kiln_registry_job(registry_, dsl.data(), dsl.size(), &options, &answer, &error);
    return check(status, Text(answer), Text(error));
  }
  // Returns 0 before the first publication.
  std::int64_t snapshot() const {
    std::int64_t number = 0;
    char* error = nullptr;
    const int status = kiln_registry_snapshot(registry_, &number, &error);
    check(status, Text(), Text(error));
    return number;
  }
  // Returns JSON, as `kiln index snapshots --format json` prints it.
  std::string snapshots() const {
    char *json = nullptr, *error = nullptr;
    const int status = kiln_registry_snapshots(registry_, &json, &error);
    return check(status, Text(json), Text(error));
  }
  // Returns JSON, as `kiln index list --format json` prints it.
  std::string images(std::int64_t snapshot = 0) const {
    char *json = nullptr, *error = nullptr;
    const int status = kiln_registry_images(registry_, snapshot, &json, &error);
    return check(status, Text(json), Text(error));
  }

 private:
  using Call = int (*)(kiln_registry*, const char*, std::size_t, const kiln_select_options*, char**, char**);

  // A text of the library, which frees it.
  class Text {
   public:
    explicit Text(char* text = nullptr) : text_(text) {}
    Text(const Text&) = delete;
    Text& operator=(const Text&) = delete;
    ~Text() { kiln_registry_free(text_); }
    std::string string() const { return text_ == nullptr ? std::string() : std::string(text_); }

   private:
    char* text_;
  };

  static std::string check(int status, const Text& answer, const Text& error) {
    if (status != KILN_DONE) throw Error(status, error.string(), answer.string());
    return answer.string();
  }

  std::string ask(Call call, std::string_view dsl, const Terms& terms) const {
    kiln_select_options options{};
    options.size = sizeof options;
    options.host = terms.host.empty() ? nullptr : terms.host.c_str();
    options.format = terms.format.empty() ? nullptr : terms.format.c_str();
    options.snapshot = terms.snapshot;
    options.flags = (terms.allow_failing ? unsigned{KILN_ALLOW_FAILING} : 0u) |
                    (terms.lenient ? unsigned{KILN_LENIENT} : 0u);
    options.limit = terms.limit;
    char *answer = nullptr, *error = nullptr;
    const int status = call(registry_, dsl.data(), dsl.size(), &options, &answer, &error);
    return check(status, Text(answer), Text(error));
  }

  kiln_registry* registry_ = nullptr;
};

}  // namespace kiln_registry_cpp
