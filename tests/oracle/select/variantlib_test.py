"""What variantlib's resolver tests say, where choosing an image is the same problem: ordered preferences, an order that no shuffling
changes, what nothing is known of, and what is left when everything special is refused. One case for each of its tests, by its name.

wheelnext/variantlib@c3f54f3, tests/resolver and tests/test_api.py. A variant is an image, a property is something that an image
needs or was built for, "supported" is what the host says. The program names the best; an order is what it names when the best is taken away,
again and again.

Not carried over: the types of arguments, the order of namespaces and its errors (kiln's order is fixed), plugins and their metadata.
"""
import argparse
import copy
import itertools
import json
import random
import subprocess
import sys
import unittest

PROGRAM = None
HASWELL_WITHOUT_VENDOR = {"cpu": "x86_64_v2", "features": """abm aes avx avx2 bmi1 bmi2 cx16 f16c fma lahf_lm mmx movbe pclmulqdq popcnt sse sse2
    sse3 sse4_1 sse4_2 ssse3 xsave avx512f""".split(), "kernel": "5.4.0", "mpi": "openmpi@4.1.6"}


def image(name, cpu="x86_64", version="2.1", optimised=True, accelerators=(), exceeding=(), stale=False, **requires):
    evidence = {"verdict": "exceeds", "exceeding": list(exceeding)} if exceeding else {"verdict": "conforms"}
    return {"image": {"manifest": "sha256:" + random.Random(name).randbytes(32).hex(), "repository": "v", "tag": name or "null", "application": "pytorch",
                      "version": version, "optimised": optimised, "cpu": cpu, "accelerators": list(accelerators), "evidence": evidence, "requires": requires},
            "stale": stale, "failing": False, "retired": "", "measurements": []}


def question(version="", gpu=False):
    asked = {"enable_opt_build": True, "opt_build": {"acc_type": "nvidia" if gpu else "none"},
             "app_type-ai_training": {"config": {"ai_framework": "pytorch"}, "ai_framework-pytorch": {"version": version} if version else {}}}
    return {"optimisation": asked}


def ask(images, host, asked, **more):
    world = json.dumps({"images": images, "cases": [{"host": host, "dsl": asked, "allow_failing": False, **more}]})
    PROGRAM.stdin.write(world + "\n")
    PROGRAM.stdin.flush()
    answer = json.loads(PROGRAM.stdout.readline())
    assert not answer["error"], answer["error"]
    return answer


def best(images, host, asked):
    return ask(images, host, asked)["answer"].removeprefix("v:")


def refused(images, host):
    """name → why."""
    return {name.removeprefix("v:"): why for name, why in ask(images, host, question(), explain=True)["refused"].items()}


def order(images, host, asked=None):
    """Names, best first; "null" is the one that needs nothing. Of equal names all are taken away at once."""
    left, found = list(images), []
    while name := best(left, host, asked or question()):
        found.append(name)
        left = [one for one in left if one["image"]["tag"] != name]
    return found


# test_filtering.py: P1 is code for haswell, P2 an Open MPI.
V1, V2, V3 = image("1", cpu="haswell"), image("2", mpi="openmpi@4.1.6"), image("3", cpu="haswell", mpi="openmpi@4.1.6")
BOTH, NO_P1, NO_P2 = ({"cpu": "haswell", "mpi": "openmpi"}, {"cpu": "x86_64", "mpi": "openmpi"}, {"cpu": "haswell", "mpi": "mpich"})
NEITHER = {"cpu": "x86_64", "mpi": "mpich"}


class Filtering(unittest.TestCase):
    def fit(self, test, host, expected, images=(V1, V2, V3)):
        with self.subTest(test):
            self.assertEqual(sorted(order(images, host)), sorted(expected))

    def test_filtering(self):
        many = [copy.deepcopy(one) for one in (V1, V2, V3) for _ in range(33)]
        random.Random(1).shuffle(many)
        self.fit("test_remove_duplicates", BOTH, ["1", "2", "3"], many)
        self.fit("test_remove_duplicates_empty", BOTH, [], [])
        self.fit("test_filter_variants_by_namespaces: none forbidden", BOTH, ["1", "2", "3"])
        self.fit("test_filter_variants_by_namespaces: an unknown one", {**BOTH, "features": HASWELL_WITHOUT_VENDOR["features"] + ["unheard_of"]}, ["1", "2", "3"])
        self.fit("test_filter_variants_by_namespaces: P1's", NO_P1, ["2"])
        self.fit("test_filter_variants_by_namespaces: P2's", NO_P2, ["1"])
        self.fit("test_filter_variants_by_namespaces: both", NEITHER, [])
        self.fit("test_filter_variants_by_features: P1's", {"cpu": "sandybridge", "mpi": "openmpi"}, ["2"])
        self.fit("test_filter_variants_by_features: P2's", {"cpu": "broadwell", "mpi": "cray-mpich"}, ["1"])
        self.fit("test_filter_variants_by_property: ([P1]; [])", {"cpu": "haswell", "mpi": "mpich@4"}, ["1"])
        self.fit("test_filter_variants_by_property: ([P1]; [P2])", {"cpu": "haswell", "mpi": "openmpi@5.0.1"}, ["1"])
        self.fit("test_filter_variants_by_property: ([P2]; [P1])", {"cpu": "x86_64_v3", "mpi": "openmpi@4.0.1"}, ["2"])
        self.fit("test_filter_variants_by_property: ([P1, P2]; [])", {"cpu": "haswell", "mpi": "openmpi@4.0.1"}, ["1", "2", "3"])
        self.fit("test_filter_variants_by_property: ([]; [unknown])", {"cpu": "zen", "features": ["unheard_of"], "mpi": "mpich"}, [])


    def test_a_reason_for_each(self):
        """What a filter refuses it logs, with the property that is not there."""
        for test, host, expected in [
                ("test_filter_variants_by_namespaces: P1's", NO_P1, {"1": "avx2", "3": "avx2"}),
                ("test_filter_variants_by_namespaces: P2's", NO_P2, {"2": "mpich", "3": "mpich"}),
                ("test_filter_variants_by_namespaces: both", NEITHER, {"1": "avx2", "2": "mpich", "3": "avx2"}),
                ("test_filter_variants_by_namespaces: none forbidden", BOTH, {})]:
            with self.subTest(test):
                reasons = refused((V1, V2, V3), host)
                self.assertEqual(reasons.keys(), expected.keys())
                for name, lacking in expected.items():
                    self.assertIn(lacking, reasons[name])


class Sorting(unittest.TestCase):
    """test_sorting.py: the first rank is GPU code, the second the processor's, the third the version."""

    HOST = {"cpu": "haswell", "accelerators": ["nvidia:sm_90"]}

    def sorts(self, test, images, expected):
        for permutation in itertools.permutations(images):
            with self.subTest(test, images=[one["image"]["tag"] for one in permutation]):
                self.assertEqual(order(permutation, self.HOST, question(gpu=True)), expected)

    def test_sorting(self):
        gpu = lambda name, *targets, **other: image(name, accelerators=[f"nvidia:{one}" for one in targets], **other)
        a, b, c = gpu("a", "sm_90a"), gpu("b", "sm_90"), gpu("c", "sm_80")
        self.sorts("test_get_property_priorities: as the host has them", [a, b], ["a", "b"])
        self.sorts("test_get_property_priorities: one more moves none", [a, b, c], ["a", "b", "c"])
        vendor_alone, machine_code = image("any", accelerators=["nvidia"]), gpu("d", "sm_90", version="1")
        self.sorts("test_get_property_priorities_negative: what has no place is last", [vendor_alone, machine_code], ["d", "any"])
        self.sorts("test_get_property_priorities_negative: but what the GPU has to compile", [vendor_alone, c], ["any", "c"])
        cpu = [gpu(name, "sm_90", cpu=name) for name in ("haswell", "ivybridge", "x86_64_v2")]
        self.sorts("test_get_feature_priorities", cpu, ["haswell", "ivybridge", "x86_64_v2"])
        self.sorts("test_get_namespace_priorities", [gpu("gpu", "sm_90"), gpu("cpu", "sm_80", cpu="haswell", version="9")], ["gpu", "cpu"])
        d1, d2 = gpu("D1", "sm_80", cpu="haswell", version="2.2"), gpu("D2", "sm_80", version="2.2")
        d3 = gpu("D3", "sm_90", stale=True)
        for some, expected in [((d1,), "D1"), ((d1, d2), "D1 D2"), ((d1, d3), "D3 D1"), ((d2, d3), "D3 D2"), ((d1, d2, d3), "D3 D1 D2")]:
            self.sorts("test_sort_variants_descriptions", some, expected.split())


SETS = """1356 356 1346 346 136 36 156 56 146 46 16 6 135 35 134 34 13 3 15 5 14 4 1 12356 2356 12346 2346 1236 236 1256 256 1246 246 126 26 1235 235 1234
    234 123 23 125 25 124 24 12 2""".split()  # test_lib.py: nearly all of p1 … p6 with one of p4 and p5 at most


def needing(name):
    """p1 an MPI, p2 code for haswell, p3 code that exceeds its target, p4 and p5 one vendor or another, p6 a kernel."""
    has = set(name)
    requires = {key: value for one, key, value in (("1", "mpi", "openmpi@4.1.6"), ("4", "vendor", "GenuineIntel"), ("5", "vendor", "AuthenticAMD"), ("6", "kernel", "5.4"))
                if one in has}
    return image(name, cpu="haswell" if "2" in has else "x86_64", exceeding=["avx512f"] if "3" in has else (), **requires)


def preferred(name):
    """p6 a release, p3 an optimised build, p5 code for this GPU, p4 PTX for it, p1 code for this processor; p2 nothing that is there."""
    has = set(name)
    accelerators = ["nvidia:sm_90"] if "5" in has else ["nvidia:sm_80"] if "4" in has else ["nvidia"]
    return image(name, version="2.1" if "6" in has else "2.1rc1", optimised="3" in has, accelerators=accelerators, cpu="haswell" if "1" in has else "x86_64",
                 **({"vendor": "AuthenticAMD"} if "2" in has else {}))


class Lib(unittest.TestCase):
    def fit(self, test, expected, names=(*SETS, ""), **changes):
        host = {key: value for key, value in {**HASWELL_WITHOUT_VENDOR, **changes}.items() if value}
        images = [needing(name) for name in names] * 5
        random.Random(2).shuffle(images)
        with self.subTest(test):
            self.assertEqual(sorted(order(images, host)), sorted(expected.split()))

    def test_filter_variants(self):
        nothing = {"cpu": "x86_64", "features": [], "kernel": "3.2", "mpi": "mpich"}
        self.fit("test_filter_variants_only_one_prop_allowed: none allowed", "", SETS, **nothing, vendor="IBM")
        self.fit("test_filter_variants_only_one_prop_allowed", "4", SETS, **nothing, vendor="GenuineIntel")
        self.fit("test_filter_variants_only_one_prop_allowed: and forbidden", "", SETS, **nothing, vendor="CentaurHauls")
        self.fit("test_filter_variants_forbidden_feature_allowed_prop", "4 null", **nothing, vendor="GenuineIntel")
        self.fit("test_filter_variants_only_remove_duplicates", " ".join([*SETS, "null"]))
        self.fit("test_filter_variants_remove_duplicates_and_namespaces", "346 356 34 35 36 46 56 3 4 5 6 null", mpi="mpich",
                 features=["sse3", "ssse3", "avx512f"])
        self.fit("test_filter_variants_remove_duplicates_and_features", "14 15 1 4 5 null", features=["sse2"], kernel="5.3.9")
        self.fit("test_filter_variants_remove_duplicates_and_properties", "14 15 1 4 5 null", features=["sse2"], kernel="2.6.32-754.el6")

    def test_sort_and_filter_supported_variants(self):
        images = [preferred(name) for name in (*SETS, "")] * 5
        random.Random(3).shuffle(images)
        host = {"cpu": "haswell", "accelerators": ["nvidia:sm_90"]}
        # p4 alone is code that the GPU has to compile: it is not optimised for it.
        expected = "1356 356 136 36 156 56 16 6 1346 346 146 46 135 35 13 3 15 5 1 null 134 34 14 4"
        self.assertEqual(order(images, host, question(gpu=True)), expected.split())


class AbiDependency(unittest.TestCase):
    """test_abi_dependency.py: 4, 4.3, and 4.3.1 are each supported where 4.3.1 is installed."""

    def test_inject_abi_dependency(self):
        for asked, version, fits in [("7", "7.2.3.post4", True), ("7.2", "7.2.3.post4", True), ("7.2.3", "7.2.3.post4", True), ("4", "4.3b1", True),
                                     ("4.3", "4.3b1", True), ("4.0.0", "4", True), ("1.2", "1.20", False), ("8", "7.2.3", False)]:
            with self.subTest(f"test_inject_abi_dependency: {asked} of {version}"):
                self.assertEqual(order([image("x", version=version)], None, question(asked)), ["x"] if fits else [])
        for its, hosts, fits in [("openmpi@4", "openmpi@4.1.6", True), ("openmpi@4.1", "openmpi@4.0.3", True), ("openmpi@40.1", "openmpi@4.0.3", False)]:
            with self.subTest(f"test_inject_abi_dependency: {its} on {hosts}"):
                self.assertEqual(order([image("x", mpi=its)], {"cpu": "haswell", "mpi": hosts}), ["x"] if fits else [])


class Api(unittest.TestCase):
    """tests/test_api.py, and the examples of PEP 825."""

    def test_roundtrip(self):
        gpus, cpus, versions = ["sm_90a", "sm_90", "sm_80"], ["haswell", "ivybridge", "x86_64"], ["2.10", "2.9"]
        rows = [image(f"{gpu}-{cpu}-{version}", cpu=cpu, version=version, accelerators=[f"nvidia:{gpu}"])
                for gpu, cpu, version in itertools.product(gpus, cpus, versions)] + [image("", cpu="x86_64", version="1", accelerators=["nvidia"])]
        expected = [one["image"]["tag"] for one in rows]
        expected.insert(12, expected.pop())  # the GPU has to compile what is for sm_80
        random.Random(4).shuffle(rows)
        self.assertEqual(order(rows, {"cpu": "haswell", "accelerators": ["nvidia:sm_90"]}, question(gpu=True)), expected)

    def fits(self, test, one, host, fits=True, gpu=False):
        with self.subTest(test):
            self.assertEqual(order([one], host, question(gpu=gpu)) != [], fits)

    def test_check_variant_supported(self):
        self.fits("test_check_variant_supported_generic: null", image(""), {"cpu": "x86_64", "features": ["sse2"], "mpi": "mpich", "vendor": "VIA"})
        self.fits("test_check_variant_supported_generic: both there", V3, BOTH)
        self.fits("test_check_variant_supported_generic: known, not here", image("x", mpi="mpich@3.1"), BOTH, False)
        self.fits("test_validation_result_is_valid: nothing is known", V3, None)
        self.fits("test_validation_result_is_valid: one thing is unknown", V3, {"cpu": "haswell"})
        self.fits("test_validation_result_is_valid: one thing does not fit", V3, NO_P1, False)

    def test_pep_825(self):
        bound = image("x", accelerators=["nvidia:sm_110", "nvidia:sm_120"], driver="570.26")
        host = {"cpu": "haswell", "accelerators": ["nvidia:sm_120"], "driver": "570.26"}
        self.fits("one of sm_110 and sm_120, and the lower bound", bound, host, gpu=True)
        self.fits("the lower bound is not met", bound, {**host, "driver": "570.25"}, False, gpu=True)
        self.fits("neither of them", bound, {**host, "accelerators": ["nvidia:sm_90"]}, False, gpu=True)
        self.fits("x86_64 :: level :: v3", image("x", cpu="x86_64_v3"), {"cpu": "zen"})
        self.fits("x86_64 :: level :: v3, and v2 is there", image("x", cpu="x86_64_v3"), {"cpu": "x86_64_v2"}, False)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="select_cases")
    known, rest = parser.parse_known_args()
    with subprocess.Popen([known.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as PROGRAM:
        passed = unittest.main(argv=[sys.argv[0], *rest], exit=False).result.wasSuccessful()
    sys.exit(0 if passed else 1)
