"""Judges a document by who defines its form: documents.py spdx|cyclonedx|provenance FILE

Exit 0 when it is as the specification demands, 1 with one line a problem when it is not. SPDX 2.3: spdx-tools. CycloneDX 1.6:
the strict JSON Schema of cyclonedx-python-lib. Provenance: the in-toto project's own types (in-toto-attestation), and what
SLSA v1 demands beyond them. All are in .cache/validators (ci/setup --validators).
"""
import json
import re
import sys
import urllib.parse


def spdx_problems(file):
    from spdx_tools.spdx.parser.error import SPDXParsingError
    from spdx_tools.spdx.parser.parse_anything import parse_file
    from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

    try:
        return [message.validation_message for message in validate_full_spdx_document(parse_file(file), "SPDX-2.3")]
    except SPDXParsingError as error:
        return error.get_messages()


def cyclonedx_problems(file):
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    with open(file, encoding="utf-8") as text:
        problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text.read())
    return [] if problem is None else [str(problem).splitlines()[0]]


def is_uri(text):
    return bool(urllib.parse.urlsplit(text).scheme)


# https://github.com/in-toto/attestation/blob/main/spec/v1/resource_descriptor.md and digest_set.md
DIGEST = {"sha256": 64, "sha512": 128, "gitCommit": 40}


def resource_problems(where, resource):
    if not (resource.uri or resource.digest or resource.content):
        yield f"{where}: neither uri nor digest nor content"
    if resource.uri and not is_uri(resource.uri):
        yield f"{where}: '{resource.uri}' is no URI"
    for algorithm, value in resource.digest.items():
        if not re.fullmatch(f"[0-9a-f]{{{DIGEST.get(algorithm, 0)}}}", value):
            yield f"{where}: '{value}' is no {algorithm}"


# https://slsa.dev/spec/v1.0/provenance: the fields that are required at SLSA Build L1, and URIs where it says TypeURI.
def provenance_problems(file):
    from google.protobuf import json_format
    from in_toto_attestation.predicates.provenance.v1 import provenance_pb2
    from in_toto_attestation.v1 import statement, statement_pb2

    with open(file, encoding="utf-8") as text:
        whole = json.load(text)
    try:
        made = statement.Statement.copy_from_pb(json_format.ParseDict(whole, statement_pb2.Statement()))
        made.pb.type = whole["_type"]
        made.validate()
        predicate = json_format.ParseDict(whole["predicate"], provenance_pb2.Provenance())
    except (KeyError, ValueError, json_format.ParseError) as error:
        return [str(error)]
    problems = []
    if whole["predicateType"] != "https://slsa.dev/provenance/v1":
        problems.append(f"predicateType is {whole['predicateType']}")
    for name, value in (("buildType", predicate.build_definition.build_type), ("builder.id", predicate.run_details.builder.id)):
        if not is_uri(value):
            problems.append(f"{name} '{value}' is no URI")
    if not predicate.build_definition.external_parameters.fields:
        problems.append("there are no externalParameters")
    for part, resources in (("subject", made.pb.subject),
                            ("resolvedDependencies", predicate.build_definition.resolved_dependencies),
                            ("byproducts", predicate.run_details.byproducts)):
        for number, resource in enumerate(resources):
            problems += resource_problems(f"{part}[{number}]", resource)
    return problems


judges = {"spdx": spdx_problems, "cyclonedx": cyclonedx_problems, "provenance": provenance_problems}
found = judges[sys.argv[1]](sys.argv[2])
print("\n".join(found[:20]))
sys.exit(1 if found else 0)
