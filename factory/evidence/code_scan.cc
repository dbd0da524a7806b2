#include "factory/evidence/code_scan.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <thread>

#include "factory/base/effects.h"
#include "factory/evidence/instruction_decoder.h"

namespace kiln::evidence {
namespace {

constexpr std::uint64_t kChunk = 1u << 20;  // bytes of code that a thread takes at once

std::unique_ptr<InstructionDecoder> decoder_for(Machine machine) {
  if (machine == Machine::aarch64) return make_arm_decoder();
  return make_x86_decoder(machine == Machine::x86_64);
}

// Consecutive functions of about kChunk bytes together, and what was found in them.
struct Chunk {
  std::uint32_t first = 0;
  std::uint32_t end = 0;
  CodeScan found;
};

// Threads take chunks of equal size in bytes: one function of a megabyte (generated kernels) is a chunk of
// its own, and ten thousand small ones share one. Results are put together in the chunks' order, whoever was
// first.
std::vector<Chunk> chunks_of(const FunctionMap& map) {
  std::vector<Chunk> chunks;
  std::uint64_t size = kChunk;
  for (std::uint32_t i = 0; i < map.functions.size(); ++i) {
    if (size >= kChunk) {
      chunks.push_back({i, i, {}});
      size = 0;
    }
    size += map.functions[i].bytes.size();
    chunks.back().end = i + 1;
  }
  return chunks;
}

class Scanner {
 public:
  Scanner(const ElfFile& file, const FunctionMap& map, CodeScan& result)
      : file_(file), map_(map), result_(result), decoder_(decoder_for(file.machine())) {}

  void scan(Chunk& chunk) {
    for (std::uint32_t i = chunk.first; i < chunk.end; ++i) {
      std::size_t code = chunk.found.to_code.size(), data = chunk.found.to_data.size();
      result_.functions[i] = function(i, chunk.found);
      forget_repetitions(chunk.found.to_code, code);
      forget_repetitions(chunk.found.to_data, data);
    }
  }

 private:
  FunctionScan function(std::uint32_t number, CodeScan& found) {
    const Function& function = map_.functions[number];
    FunctionScan scan;
    decoder_->reset();
    std::size_t references = found.to_code.size();
    for (std::size_t at = 0; at < function.bytes.size();) {
      Decoded decoded = decoder_->decode(function.bytes.substr(at), function.begin + at);
      // Data among code, or an extension newer than the decoder. One byte on, as instructions of x86 may
      // begin anywhere.
      if (decoded.length == 0) {
        scan.undecodable = true;
        ++found.undecodable_bytes;
        ++at;
        continue;
      }
      at += decoded.length;
      ++found.all_instructions;
      if (!scan.undecodable) scan.features |= decoded.features;
      scan.legacy_sse |= (decoded.features & legacy_) != 0;
      scan.asks_processor |= decoded.asks_processor;
      scan.out_of_line_atomic |= decoded.tests_for_atomics;
      for (FeatureSet left = decoded.features; left != 0; left &= left - 1)
        ++found.instructions[static_cast<std::size_t>(__builtin_ctzll(left))];
      follow(number, function, decoded, found);
    }
    // A gap that does not decode to its end is data: what it refers to means nothing.
    if (function.gap && scan.undecodable) found.to_code.resize(references);
    return scan;
  }

  // Who refers to what: code by its address, data by the aligned word of 8 bytes that it is in, so that both
  // halves of a GOT entry are the same. Read-only data is left out: constants say nothing about who calls
  // whom.
  void follow(std::uint32_t number, const Function& function, const Decoded& decoded, CodeScan& found) const {
    auto leaves = [&](std::uint64_t address) { return address < function.begin || address >= function.end; };
    if (decoded.branch != 0 && leaves(decoded.branch)) found.to_code.push_back({number, decoded.branch});
    if (decoded.address != 0) {
      const Section* section = file_.section_at(decoded.address);
      if (section != nullptr && section->executable()) {
        if (leaves(decoded.address)) found.to_code.push_back({number, decoded.address});
      } else if (section != nullptr && (section->writable() || section->name.starts_with(".got"))) {
        found.to_data.push_back({number, decoded.address & ~std::uint64_t{7}});
      }
    }
    // Only programs at a fixed address have absolute ones; in others the number is a number.
    if (decoded.absolute != 0 && file_.type() == ElfType::executable) {
      const Section* section = file_.section_at(decoded.absolute);
      if (section != nullptr && section->executable() && leaves(decoded.absolute))
        found.to_code.push_back({number, decoded.absolute});
    }
  }

  // A function names the same word, or calls the same function, again and again.
  static void forget_repetitions(std::vector<CodeReference>& references, std::size_t from) {
    auto first = references.begin() + static_cast<std::ptrdiff_t>(from);
    auto less = [](const CodeReference& a, const CodeReference& b) { return a.to < b.to; };
    auto same = [](const CodeReference& a, const CodeReference& b) { return a.to == b.to; };
    std::sort(first, references.end(), less);
    references.erase(std::unique(first, references.end(), same), references.end());
  }

  const ElfFile& file_;
  const FunctionMap& map_;
  CodeScan& result_;
  std::unique_ptr<InstructionDecoder> decoder_;
  FeatureSet legacy_ = feature("x86_64", "sse") | feature("x86_64", "sse2");
};

// Scanner objects are not shared: decoders keep state. `result.functions` is, each element written by one
// thread.
void run_all(const ElfFile& file, const FunctionMap& map, std::vector<Chunk>& chunks, CodeScan& result,
             unsigned jobs) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr problem;
  std::atomic<bool> failed{false};
  auto work = [&] {
    try {
      Scanner scanner(file, map, result);
      for (std::size_t i; (i = next++) < chunks.size() && !failed && !interrupted();) scanner.scan(chunks[i]);
    } catch (...) {
      if (!failed.exchange(true)) problem = std::current_exception();
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 1; i < std::min<std::size_t>(std::max(jobs, 1u), chunks.size()); ++i)
    threads.emplace_back(work);
  work();
  threads.clear();
  if (problem) std::rethrow_exception(problem);
  if (interrupted()) throw Error(ExitCode::interrupted, "interrupted");
}

}  // namespace

bool can_scan(Machine machine) {
  return machine == Machine::x86_64 || machine == Machine::i386 || machine == Machine::aarch64;
}

CodeScan scan_code(const ElfFile& file, const FunctionMap& map, unsigned jobs) {
  CodeScan result;
  if (!can_scan(file.machine())) return result;
  result.functions.resize(map.functions.size());
  std::vector<Chunk> chunks = chunks_of(map);
  run_all(file, map, chunks, result, jobs);
  for (Chunk& chunk : chunks) {
    const CodeScan& found = chunk.found;
    result.to_code.insert(result.to_code.end(), found.to_code.begin(), found.to_code.end());
    result.to_data.insert(result.to_data.end(), found.to_data.begin(), found.to_data.end());
    for (std::size_t i = 0; i < found.instructions.size(); ++i)
      result.instructions[i] += found.instructions[i];
    result.all_instructions += found.all_instructions;
    result.undecodable_bytes += found.undecodable_bytes;
    chunk.found = {};
  }
  return result;
}

// Decodes once more instead of keeping the text of every instruction of every function.
Instruction first_instruction(Machine machine, const Function& function, FeatureSet features) {
  auto decoder = decoder_for(machine);
  for (std::size_t at = 0; at < function.bytes.size();) {
    std::string_view rest = function.bytes.substr(at);
    Decoded decoded = decoder->decode(rest, function.begin + at);
    if ((decoded.features & features) != 0)
      return {function.begin + at, decoder->text(rest, function.begin + at)};
    at += std::max(decoded.length, 1u);
  }
  return {function.begin, ""};
}

}  // namespace kiln::evidence
