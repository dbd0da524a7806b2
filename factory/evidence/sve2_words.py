#!/usr/bin/env python3
"""Makes sve2_words.h: which words of A64's SVE group (bits 28:25 = 0010) are SVE2, by fixed bits.

Asks LLVM's assembler tools (llvm-mc) which words decode with SVE2 and not with SVE alone, and puts the
answers together to (mask, value) pairs. Words that are no instruction at all are "don't care".
Run it as `sve2_words.py > sve2_words.h`; takes about a minute.
"""
import random
import re
import subprocess

TOP = [31, 30, 29, 24] + list(range(23, 9, -1))  # the bits that tell SVE's instructions apart


def decodes(words, features):
    text = "".join("0x%02x 0x%02x 0x%02x 0x%02x\n" % tuple(w.to_bytes(4, "little")) for w in words)
    run = subprocess.run(["llvm-mc", "--disassemble", "-triple=aarch64", "-mattr=" + features],
                         input=text, capture_output=True, text=True)
    bad = {int(n) - 1 for n in re.findall(r"<stdin>:(\d+):\d+: warning: invalid", run.stderr)}
    return [i not in bad for i in range(len(words))]


def word_of(key, low):
    word = 0b0010 << 25 | low
    for i, bit in enumerate(TOP):
        word |= (key >> (len(TOP) - 1 - i) & 1) << bit
    return word


def main():
    random.seed(1)
    keys = range(1 << len(TOP))
    new, old = set(), set()
    for low in [0, 0x010, 0x3ff & 0x0a4] + [random.getrandbits(10) for _ in range(3)]:
        words = [word_of(key, low) for key in keys]
        sve = decodes(words, "+sve,+bf16,+i8mm,+f32mm,+f64mm")
        sve2 = decodes(words, "+sve2,+sve2-aes,+sve2-sm4,+sve2-sha3,+sve2-bitperm,+bf16,+i8mm,+f32mm,+f64mm")
        for key in keys:
            if sve[key]:
                old.add(key)
            elif sve2[key]:
                new.add(key)
    new -= old
    allbits = (1 << len(TOP)) - 1
    left, terms = set(new), []
    while left:
        seed = min(left)
        mask, members = allbits, {seed}
        for bit in range(len(TOP)):
            wider = members | {m ^ 1 << bit for m in members}
            if not wider & old:
                mask, members = mask & ~(1 << bit), wider
        left -= members
        terms.append((mask, seed & mask))
    print("// Made by sve2_words.py from LLVM's tables: words of the SVE group that need SVE2.\n#pragma once\n")
    print("#include <cstdint>\n\nnamespace kiln::evidence {\n")
    print("// REQUIRES: bits 28:25 of `word` are 0010.\ninline bool is_sve2(std::uint32_t word) {")
    print("  struct Words {\n    std::uint32_t mask;\n    std::uint32_t value;\n  };")
    print("  static constexpr Words kWords[] = {")
    for mask, value in terms:
        base = 0b0010 << 25
        print("      {0x%08x, 0x%08x}," % (word_of(mask, 0) & ~base, word_of(value, 0) & ~base))
    print("  };\n  for (const Words& words : kWords)\n    if ((word & words.mask) == words.value) return true;")
    print("  return false;\n}\n\n}  // namespace kiln::evidence")


main()
