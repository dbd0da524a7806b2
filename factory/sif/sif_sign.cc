#include "factory/sif/sif_sign.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "factory/base/text.h"
#include "factory/sif/output_file.h"
#include "factory/sif/sif_integrity.h"

namespace kiln::sif {
namespace {

constexpr std::uint64_t kMostSignature = 1u << 20;
constexpr std::uint32_t kGroup = 1;  // Apptainer puts all that makes an image into one group
constexpr std::size_t kSignatureExtra = 384;
constexpr std::int64_t kClockSlack =
    60;  // between the signature and the descriptor that holds it, in seconds

// The number that OpenPGP (RFC 4880, section 9.4) and that SIF's signature descriptor has for a hash.
struct HashNumber {
  std::string_view name;
  std::string_view openpgp;
  char sif;
};
constexpr HashNumber kHashes[] = {{"SHA256", "8", 1}, {"SHA384", "9", 2}, {"SHA512", "10", 3}};

const HashNumber& hash_number(std::string_view name) {
  return *std::find_if(std::begin(kHashes), std::end(kHashes),
                       [&](const auto& one) { return one.name == name; });
}

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return bytes;
}

// The `extra` of a signature: its hash and the fingerprint of who signed.
std::string signature_extra(std::string_view hash, std::string_view fingerprint) {
  std::string extra = {hash_number(hash).sif, 0, 0, 0};
  extra += from_hex(fingerprint);
  extra.resize(kSignatureExtra, '\0');
  return extra;
}

CommandResult run_gpg(const Gpg& gpg, std::vector<std::string> arguments) {
  Command command;
  command.argv = {"gpg", "--batch", "--no-tty"};
  if (!gpg.keyring.empty())
    command.argv.insert(command.argv.end(), {"--no-default-keyring", "--keyring", gpg.keyring});
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.environment = gpg.environment;
  command.capture_stdout = true;
  command.limits.wall = std::chrono::minutes(5);
  return gpg.runner.run(command);
}

fs::path scratch_file(const Gpg& gpg, std::string_view name, std::string_view bytes) {
  RealFileSystem files;
  files.write(gpg.scratch / name, bytes);
  return gpg.scratch / name;
}

std::string last_line(std::string text) {
  text.resize(text.find_last_not_of('\n') + 1);
  return text.empty() ? "no reason given" : text.substr(text.find_last_of('\n') + 1);
}

// What `gpg --status-fd` says (GnuPG's doc/DETAILS).
struct GpgVerdict {
  std::string refused;  // why not; "" = good
  std::string user;
  std::string fingerprint;
  std::string hash;  // OpenPGP's number
  std::int64_t time = 0;
};

GpgVerdict read_status(const std::string& output) {
  GpgVerdict verdict;
  std::size_t valid = 0;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string mark, keyword;
    words >> mark >> keyword;
    if (mark != "[GNUPG:]") continue;
    std::string rest;
    std::getline(words >> std::ws, rest);
    if (keyword == "GOODSIG") verdict.user = rest.substr(std::min(rest.find(' ') + 1, rest.size()));
    if (keyword == "NO_PUBKEY") verdict.refused = fmt::format("the key {} is not in the key ring", rest);
    if (keyword == "BADSIG") verdict.refused = "the signature does not belong to the text";
    if (keyword == "EXPSIG") verdict.refused = "the signature has expired";
    if (keyword == "EXPKEYSIG") verdict.refused = "the key has expired";
    if (keyword == "REVKEYSIG") verdict.refused = "the key was revoked";
    if (keyword == "ERRSIG" && verdict.refused.empty()) verdict.refused = "gpg cannot check it";
    if (keyword != "VALIDSIG") continue;
    ++valid;
    std::istringstream fields(rest);
    std::string own, date, expires, version, reserved, algorithm, kind;
    fields >> own >> date >> verdict.time >> expires >> version >> reserved >> algorithm >> verdict.hash >>
        kind >> verdict.fingerprint;
  }
  if (verdict.refused.empty() && (valid != 1 || verdict.user.empty() || verdict.fingerprint.size() != 40))
    verdict.refused = valid == 0 ? "gpg finds no signature in it" : "gpg finds more than one signature in it";
  return verdict;
}

GpgVerdict gpg_verdict(std::string_view message, const Gpg& gpg) {
  CommandResult result =
      run_gpg(gpg, {"--status-fd", "1", "--verify", scratch_file(gpg, "message.asc", message).string()});
  GpgVerdict verdict = read_status(result.output);
  if (verdict.refused.empty() && !result.ok()) verdict.refused = "gpg refuses it: " + last_line(result.tail);
  return verdict;
}

void check_descriptor(const ReadOnlyFile& file, const SifObject& object, const ClearSigned& message,
                      const GpgVerdict& verdict) {
  auto must = [&](bool holds, std::string_view what) {
    if (!holds) file.fail(fmt::format("object {}: {}", object.id, what));
  };
  must(object.group == kSifGroupBit, "a signature belongs to no group");
  must(object.name.empty() && object.uid == 0 && object.gid == 0, "a signature has no name and no owner");
  must(verdict.hash == hash_number(message.hash).openpgp, "the hash header is not the signature's hash");
  must(object.extra == signature_extra(message.hash, verdict.fingerprint),
       "the descriptor names another key or hash than signed");
  must(object.created >= verdict.time - kClockSlack && object.created <= verdict.time + kClockSlack,
       "the descriptor's time is not the signature's");
}

SignatureReport verify_one(const ReadOnlyFile& file, const SifFile& sif, const SifObject& object,
                           const Gpg& gpg) {
  std::string text = file.section(object.offset, object.size, kMostSignature);
  ClearSigned message;
  try {
    message = read_clear_signed(text);
  } catch (const Error& error) {
    file.fail(fmt::format("object {}: {}", object.id, error.message()));
  }
  std::uint32_t group = object.link & ~kSifGroupBit;
  if ((object.link & kSifGroupBit) != kSifGroupBit || group == 0)
    file.fail(fmt::format("object {}: a signature of something else than a group", object.id));
  check_integrity(file, sif, group, message.text);
  GpgVerdict verdict = gpg_verdict(text, gpg);
  if (!verdict.refused.empty())
    file.fail(fmt::format("object {}: {}", object.id, verdict.refused),
              contains(verdict.refused, "key ring") ? "gpg --import, or --keyring with its public key" : "");
  check_descriptor(file, object, message, verdict);
  auto covered = std::ranges::count_if(sif.objects, [&](const SifObject& one) {
    return one.type != SifType::signature && one.group == object.link;
  });
  return {object.id, verdict.fingerprint, verdict.user, verdict.time, static_cast<std::size_t>(covered)};
}

std::vector<SignatureReport> verify_all(const ReadOnlyFile& file, const SifFile& sif, const Gpg& gpg) {
  std::vector<SignatureReport> reports;
  for (const SifObject& object : sif.objects)
    if (object.type == SifType::signature) reports.push_back(verify_one(file, sif, object, gpg));
  return reports;
}

void copy_all(const ReadOnlyFile& from, OutputFile& to) {
  std::string buffer(1u << 20, '\0');
  for (std::uint64_t done = 0; done < from.size();) {
    std::size_t got = from.read_at(done, buffer.data(), buffer.size());
    if (got == 0) from.fail("the file became shorter while it was read");
    to.write_at(done, std::string_view(buffer).substr(0, got));
    done += got;
  }
}

// The file with one more object at its end.
void write_signed(const ReadOnlyFile& input, SifFile sif, const SifObject& signature,
                  std::string_view message, const fs::path& output) {
  OutputFile file(output);
  copy_all(input, file);
  file.write_at(signature.offset, message);
  file.write_at(sif.header.descriptor_offset + (signature.id - 1) * kSifDescriptorSize, encode(signature));
  sif.header.free -= 1;
  sif.header.data_length += signature.size;
  sif.header.modified = std::max(sif.header.modified, signature.modified);
  file.write_at(0, encode(sif.header));
  file.commit();
}

std::string clear_sign(const std::string& text, const std::string& key, const Gpg& gpg) {
  std::vector<std::string> arguments = {"--digest-algo", "SHA256", "--no-comments", "--no-emit-version"};
  if (!key.empty()) arguments.insert(arguments.end(), {"--local-user", key});
  arguments.insert(arguments.end(),
                   {"--output", "-", "--clear-sign", scratch_file(gpg, "text", text + "\n").string()});
  CommandResult result = run_gpg(gpg, arguments);
  if (!result.ok())
    throw Error(ExitCode::usage, "gpg cannot sign: " + last_line(result.tail),
                "`gpg --list-secret-keys` shows the keys; --key chooses one");
  return result.output;
}

}  // namespace

SignatureReport sign_sif(const fs::path& input, const fs::path& output, const std::string& key,
                         const Gpg& gpg) {
  ReadOnlyFile file(input);
  SifFile sif = read_sif(file);
  check_canonical(file, sif);
  if (sif.header.free == 0) file.fail("there is no free descriptor for a signature");
  for (const SifObject& object : sif.objects)
    if (object.type != SifType::signature && object.group != (kSifGroupBit | kGroup))
      file.fail(fmt::format("object {} is not in group 1, the one that is signed", object.id));
  std::string message = clear_sign(integrity_metadata(file, sif, kGroup), key, gpg);
  ClearSigned read = read_clear_signed(message);
  Gpg own = gpg;
  own.keyring.clear();  // the signer's
  GpgVerdict verdict = gpg_verdict(message, own);
  if (!verdict.refused.empty())
    throw Error(ExitCode::usage, "gpg does not accept its own signature: " + verdict.refused);
  SifObject signature;
  signature.type = SifType::signature;
  signature.id = static_cast<std::uint32_t>(sif.objects.size() + 1);
  signature.group = kSifGroupBit;
  signature.link = kSifGroupBit | kGroup;
  signature.offset = file.size();
  signature.size = signature.stored = message.size();
  signature.created = signature.modified = verdict.time;
  signature.extra = signature_extra(read.hash, verdict.fingerprint);
  write_signed(file, sif, signature, message, output);
  return {signature.id, verdict.fingerprint, verdict.user, verdict.time, sif.objects.size()};
}

std::vector<SignatureReport> verify_sif(const ReadOnlyFile& file, const Gpg& gpg) {
  SifFile sif = read_sif(file);
  check_primary_partition(file, sif);
  check_canonical(file, sif);
  auto reports = verify_all(file, sif, gpg);
  if (reports.empty()) file.fail("it is not signed", "`kiln sif sign` signs it");
  for (const SifObject& object : sif.objects)
    if (object.type != SifType::signature && std::ranges::none_of(sif.objects, [&](const SifObject& one) {
          return one.type == SifType::signature && one.link == object.group;
        }))
      file.fail(fmt::format("object {} is not covered by any signature", object.id));
  return reports;
}

}  // namespace kiln::sif
