#include "factory/cli/sif_sign.h"

#include <fmt/format.h>

#include "factory/cli/print.h"
#include "factory/cli/temporary_folder.h"
#include "factory/cli/usage.h"
#include "factory/sif/sif_sign.h"

namespace kiln {
namespace {

struct SifSignOptions {
  std::string file;
  std::string output;
  std::string key;
  std::string keyring;
};

sif::Gpg gpg_of(const SifSignOptions& options, const TemporaryFolder& scratch, Invocation& invocation) {
  std::string keyring = options.keyring;
  if (!keyring.empty()) {
    invocation.need_file(keyring);
    keyring = fs::absolute(keyring).string();  // gpg looks for bare names in its own folder
  }
  return {invocation.runner, invocation.child_environment(), scratch.path(), keyring};
}

void print(const SifSignOptions& options, const sif::SignatureReport& report, std::string_view verb) {
  say("{}: {} by {} ({}), {}, {} objects\n", options.file, verb, report.user, report.fingerprint,
      rfc3339(report.time), report.objects);
}

void sign(const SifSignOptions& options, Invocation& invocation) {
  TemporaryFolder scratch;
  fs::path output = options.output.empty() ? options.file : options.output;
  print(options, sif::sign_sif(options.file, output, options.key, gpg_of(options, scratch, invocation)),
        "signed");
}

void verify(const SifSignOptions& options, Invocation& invocation) {
  TemporaryFolder scratch;
  ReadOnlyFile file(options.file);
  for (const sif::SignatureReport& report : sif::verify_sif(file, gpg_of(options, scratch, invocation)))
    print(options, report, "good signature");
}

}  // namespace

void add_sif_signing(CLI::App& sif, Invocation& invocation) {
  auto options = std::make_shared<SifSignOptions>();
  CLI::App* signing =
      sif.add_subcommand("sign", "Add a PGP signature, which `apptainer verify` accepts, too");
  signing->add_option("file", options->file, "SIF file")->required()->type_name("FILE");
  signing->add_option("--key", options->key, "key, as for gpg --local-user (default: gpg's default key)")
      ->type_name("KEY");
  signing
      ->add_option("-o,--output", options->output,
                   "the signed file (default: the input file, which is replaced)")
      ->type_name("FILE");
  signing->footer("kiln sif sign pytorch.sif --key builds@example.org");
  signing->callback([signing, options, &invocation] {
    refuse_parent_options(*signing);
    invocation.need_file(options->file);
    sign(*options, invocation);
  });
  CLI::App* verifying = sif.add_subcommand("verify", "Check all signatures, and that no byte was changed");
  verifying->add_option("file", options->file, "SIF file")->required()->type_name("FILE");
  verifying
      ->add_option("--keyring", options->keyring, "trust only the public keys of this file (gpg --export)")
      ->type_name("FILE");
  verifying->footer("kiln sif verify pytorch.sif --keyring builds.pgp");
  verifying->callback([verifying, options, &invocation] {
    refuse_parent_options(*verifying);
    invocation.need_file(options->file);
    verify(*options, invocation);
  });
  signing->fallthrough();
  verifying->fallthrough();
}

}  // namespace kiln
