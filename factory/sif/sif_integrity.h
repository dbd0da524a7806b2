// The bytes that a SIF signature covers, and the rules for the bytes that it leaves out.
//
// The form is the one of Apptainer and SingularityCE (their package sif/pkg/integrity): the signed text is
// one JSON line,
// {"version":1,"header":{"digest":…},"objects":[{"relativeId":…,"descriptorDigest":…,"objectDigest":…},…]}.
// The header's digest covers launch, magic, version and uuid; a descriptor's covers type, used, the id
// relative to the group's first, link, size, created, uid, gid, name and extra. Fields outside of them
// (places, counts, second times, padding) cannot be forged into other content, but `check_canonical` requires
// the one form that a writer makes, so that no byte of a signed file can change undetected.
#pragma once

#include <string>
#include <string_view>

#include "factory/sif/sif_reader.h"

namespace kiln::sif {

// A clear-signed OpenPGP message (RFC 4880, section 7) in the one spelling that GnuPG and Apptainer write: a
// hash header, one line of text, an armoured signature (with its checksum, which Apptainer leaves out), and
// nothing else. Forgeries hide in the parts that more lenient readers skip: further headers, white space, a
// second message.
struct ClearSigned {
  std::string hash;       // "SHA256", "SHA384" or "SHA512"
  std::string text;       // the signed line, without its end
  std::string signature;  // OpenPGP packets, binary
};

// Throws Error(input) saying which part is not as expected.
ClearSigned read_clear_signed(std::string_view message);

// The JSON line for all objects of the group `number` that are no signatures. Throws Error(input) when the
// group is empty.
std::string integrity_metadata(const ReadOnlyFile& file, const SifFile& sif, std::uint32_t number);

// Compares the file with a signed JSON line. Throws Error(input) naming what was changed: the header, a
// descriptor, an object, or an object that the text does not know.
void check_integrity(const ReadOnlyFile& file, const SifFile& sif, std::uint32_t number,
                     std::string_view metadata);

// Throws Error(input) unless every byte outside the objects' own is what a writer would have put there: zeros
// in gaps, padding and unused descriptors, objects one after the other up to the end of the file, times that
// agree.
void check_canonical(const ReadOnlyFile& file, const SifFile& sif);

}  // namespace kiln::sif
