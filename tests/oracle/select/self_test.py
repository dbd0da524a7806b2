"""The oracle itself: sentences of docs/selection.md as cases, each worked out by hand; and that its worlds ask enough."""
import collections
import copy
import os
import subprocess
import sys
import unittest

import facts
import gpus
from better import PREFERENCES, Order, first_difference
from compare import NONE, Judged
from image import Host, Image
from question import Question, as_stock
from runs import CLAUSES, fails
from world import World

BUILT = {"image": {"manifest": "sha256:1", "repository": "pytorch", "tag": "t", "application": "pytorch", "version": "2.1", "method": "source", "optimised": True,
                   "cpu": "haswell", "requires": {}, "evidence": {"verdict": "conforms"}},
         "stale": False, "failing": False, "retired": "", "measurements": []}


def built(**changes):
    row = copy.deepcopy(BUILT)
    for key, value in changes.items():
        where = row if key in row else row["image"]["requires"] if key in ("driver", "cuda", "kernel", "mpi", "vendor", "transparent_hugepages", "own_glibc") else \
            row["image"]["evidence"] if key in ("gpu", "missing", "exceeding", "glibc", "verdict") else row["image"]
        where["glibc" if key == "own_glibc" else key] = value
    return Image(row)


def mapping(**changes):
    record = {"reference": "docker://a/b:1", "code": "c", "application": "pytorch", "version": "2.1", "optimised": False, **changes}
    return Image({"image": record, "stale": False, "failing": False, "retired": "", "measurements": []})


def measurement(median, unit="ms/step", spread=0.1, taken="2026-01-01T00:00:00Z", workload="w", **host):
    return {"image": "sha256:1", "workload": workload, "unit": unit, "median": median, "low": median - spread, "high": median + spread, "samples": 5,
            "host": {"cpu": "zen2", "model": "EPYC", "cores": 64, **host}, "taken": taken}


def refused(image, host=None, **question):
    """The first clause that it fails, "" for none."""
    found = fails(image, Question("pytorch", **question), Host(host) if host else None)
    return found[0][0] if found else ""


class Gpus(unittest.TestCase):
    def test_which_code_runs_where(self):
        for code, gpu, runs in [("sm_80", "nvidia:sm_86", True), ("sm_86", "nvidia:sm_80", False), ("sm_80", "nvidia:sm_90", False), ("sm_90a", "nvidia:sm_90", True),
                                ("sm_100a", "nvidia:sm_103", False), ("sm_100f", "nvidia:sm_103", True), ("sm_100f", "nvidia:sm_120", False),
                                ("compute_90a", "nvidia:sm_100", False), ("compute_100f", "nvidia:sm_103", True), ("compute_100f", "nvidia:sm_120", False),
                                ("compute_80", "nvidia:sm_120", True), ("sm_80", "nvidia:sm_87", False), ("sm_87", "nvidia:sm_87", True), ("sm_87", "nvidia:sm_89", False),
                                ("compute_80", "nvidia:sm_87", True), ("sm_100f", "nvidia:sm_101", False), ("compute_90", "nvidia:sm_80", False), ("gfx90a", "amd:gfx90a", True),
                                ("gfx90a", "amd:gfx90c", False), ("nvidia", "nvidia:sm_61", True), ("sm_90", "nvidia", True), ("sm_90", "amd", False)]:
            self.assertEqual(gpus.fit(code, gpu) != gpus.IMPOSSIBLE, runs, f"{code} on {gpu}")

    def test_from_best_to_worst(self):
        order = ["sm_90a", "sm_90", "compute_90", "compute_86", "compute_80", "nvidia"]
        self.assertEqual(sorted(order, key=lambda one: gpus.fit(one, "nvidia:sm_90")), order)
        self.assertLess(gpus.fit("sm_80", "nvidia:sm_89"), gpus.fit("compute_86", "nvidia:sm_89"))
        self.assertLess(gpus.fit("sm_86", "nvidia:sm_89"), gpus.fit("sm_80", "nvidia:sm_89"))

    def test_the_newest_has_ptx(self):
        self.assertEqual(gpus.with_ptx(["nvidia:sm_80", "nvidia:sm_75"])[-1], "compute_80")
        self.assertEqual(gpus.with_ptx(["nvidia:sm_80", "nvidia:sm_90a"]), ["nvidia:sm_80", "nvidia:sm_90a"])
        self.assertEqual(gpus.with_ptx(["nvidia"]), ["nvidia"])


class Clauses(unittest.TestCase):
    def test_family(self):
        self.assertEqual(refused(built(), {"cpu": "power9le"}), "family")
        self.assertEqual(refused(built(), cpu_type="arm"), "family")
        self.assertEqual(refused(built(), cpu_type="amd"), "family")  # haswell is Intel's
        self.assertEqual(refused(built(cpu="x86_64_v3"), cpu_type="amd"), "")
        self.assertEqual(refused(built(cpu="x86_64_v3", vendor="GenuineIntel"), cpu_type="amd"), "family")
        self.assertEqual(refused(built(cpu="ppc64"), cpu_type="power"), "family")
        self.assertEqual(refused(built(cpu="power7"), {"cpu": "power8"}, cpu_type="power"), "")
        self.assertEqual(refused(mapping(), {"cpu": "power8"}, optimised=False, cpu_type="arm"), "")

    def test_features_not_names(self):
        zen2 = sorted(facts.processor("zen2").features)
        self.assertEqual(refused(built(), {"cpu": "zen2"}), "")
        self.assertEqual(refused(built(cpu="broadwell"), {"cpu": "zen2"}), "cpu_features")  # adx
        self.assertEqual(refused(built(), {"cpu": "x86_64_v3"}), "cpu_features")  # aes
        self.assertEqual(refused(built(), {"cpu": "x86_64_v3", "features": zen2}), "")
        self.assertEqual(refused(built(cpu="zen3"), {"cpu": "zen3", "features": sorted(facts.processor("zen3").features - {"pku", "rdseed"})}), "")
        self.assertEqual(refused(built(cpu="zen3"), {"cpu": "zen3", "features": sorted(facts.processor("zen3").features - {"vaes"})}), "cpu_features")
        self.assertEqual(refused(built(cpu="armv8.4a"), {"cpu": "neoverse_v1"}), "")
        self.assertEqual(refused(built(cpu="neoverse_v1"), {"cpu": "neoverse_v2"}), "")  # rng, dgh, dit
        self.assertEqual(refused(built(cpu="armv8.4a"), {"cpu": "neoverse_n1"}), "cpu_features")
        self.assertEqual(refused(built(cpu="power9le"), {"cpu": "power8le"}), "cpu_features")

    def test_vendor(self):
        self.assertEqual(refused(built(vendor="GenuineIntel"), {"cpu": "zen2"}), "vendor")
        self.assertEqual(refused(built(vendor="GenuineIntel", cpu="x86_64_v2"), {"cpu": "x86_64_v2"}), "")
        self.assertEqual(refused(built(vendor="GenuineIntel", cpu="x86_64_v2"), {"cpu": "x86_64_v2", "vendor": "AuthenticAMD"}), "vendor")

    def test_gpu_code(self):
        on = lambda *gpu, **image: refused(built(accelerators=["nvidia:sm_61"], **image), {"cpu": "haswell", "accelerators": list(gpu)}, acc_type="nvidia")
        self.assertEqual(on("nvidia:sm_61"), "")
        self.assertEqual(on(), "gpu_code")
        self.assertEqual(on("amd:gfx90a"), "gpu_code")
        self.assertEqual(on("nvidia:sm_90"), "")  # PTX
        self.assertEqual(on("nvidia:sm_61", gpu=["sm_80", "compute_80"]), "gpu_code")
        self.assertEqual(on("nvidia:sm_90", gpu=["sm_61"]), "gpu_code")  # no PTX found
        self.assertEqual(on("nvidia:sm_90", "nvidia:sm_60"), "gpu_code")  # a job may get either
        self.assertEqual(on("nvidia:sm_61", gpu=["gfx90a"]), "")

    def test_driver(self):
        on = lambda driver, gpu="nvidia:sm_80", cuda="", least="": refused(built(accelerators=["nvidia:sm_80"], cuda=cuda, driver=least), {"cpu": "haswell", "accelerators": [gpu], "driver": driver}, acc_type="nvidia")
        self.assertEqual(on("525.60.12", cuda="12.9"), "driver")
        self.assertEqual(on("525.60.13", cuda="12.9"), "")
        self.assertEqual(on("525.60.13", "nvidia:sm_90", cuda="12.9"), "driver")  # by PTX only
        self.assertEqual(on("575.51.03", "nvidia:sm_90", cuda="12.9"), "")
        self.assertEqual(on("550.1", cuda="12.9", least="560"), "driver")
        self.assertEqual(on("450.80.01", cuda="11.8"), "driver")

    def test_kernel_mpi_evidence(self):
        self.assertEqual(refused(built(kernel="3.10"), {"cpu": "haswell", "kernel": "3.9.99-1"}), "kernel")
        self.assertEqual(refused(built(kernel="3.10"), {"cpu": "haswell", "kernel": "3.10.0-1160.el7"}), "")
        on = lambda mpi, glibc="2.17", **image: refused(built(mpi="openmpi@4.1.6", own_glibc="2.28", **image), {"cpu": "haswell", "mpi": mpi, "glibc": glibc})
        self.assertEqual(on("openmpi@4.0.1"), "")
        self.assertEqual(on("openmpi@5.0.1"), "mpi")
        self.assertEqual(on("mpich"), "mpi")
        self.assertEqual(on("openmpi", "2.31"), "mpi")
        self.assertEqual(on("openmpi", glibc="2.34"), "mpi")
        self.assertEqual(refused(built(mpi="mpich@3.4"), {"cpu": "haswell", "mpi": "cray-mpich@8.1.25"}), "")
        self.assertEqual(refused(built(missing=["libx.so"])), "evidence")
        self.assertEqual(refused(built(own_glibc="2.28", glibc="2.31")), "evidence")
        self.assertEqual(refused(built(verdict="exceeds", exceeding=["avx512f"]), {"cpu": "haswell"}), "evidence")
        self.assertEqual(refused(built(verdict="exceeds", exceeding=["avx512f"]), {"cpu": "icelake"}), "")

    def test_huge_pages(self):
        for needed, there, refuses in [("madvise", "never", True), ("madvise", "madvise", False), ("madvise", "always", False), ("always", "madvise", True)]:
            self.assertEqual(refused(built(transparent_hugepages=needed), {"cpu": "haswell", "transparent_hugepages": there}), "huge_pages" if refuses else "")
        self.assertEqual(refused(built(transparent_hugepages="madvise"), {"cpu": "haswell"}), "")

    def test_runtimes(self):
        tcmalloc = {"kind": "runtime", "name": "tcmalloc", "version": "2.16", "role": "allocator"}
        with_it = built(components=[tcmalloc, {"kind": "runtime", "name": "onednn"}])
        self.assertEqual(refused(built(optimised=False, components=[tcmalloc]), optimised=False), "optimised")
        self.assertEqual(refused(with_it), "")
        for choice, value, suits in [("allocator", "tcmalloc", True), ("allocator", "jemalloc", False), ("allocator", "true", True), ("allocator", "false", False),
                                     ("runtime", "onednn+tcmalloc", True), ("runtime", "onednn+jemalloc", False), ("runtime", "false", False), ("openmp", "false", True)]:
            self.assertEqual(refused(with_it, selectors={choice: value}), "" if suits else "further", (choice, value))

    def test_what_suits(self):
        self.assertEqual(refused(built(accelerators=["nvidia:sm_80"])), "accelerators")
        self.assertEqual(refused(mapping(accelerators=["nvidia"]), optimised=False), "")
        self.assertEqual(refused(mapping(accelerators=["nvidia"], optimised=True)), "accelerators")
        self.assertEqual(refused(built(), version="2.10"), "version")
        self.assertEqual(refused(built(version="2.1.3"), version=">2.1"), "version")
        self.assertEqual(refused(built(version="2.1.3"), version="~=2.1.3"), "")
        self.assertEqual(refused(built(version="2.2"), version="~=2.1.3"), "version")
        self.assertEqual(refused(built(), optimised=False), "optimised")
        self.assertEqual(refused(built(optimised=False)), "")
        self.assertEqual(refused(mapping()), "optimised")
        self.assertEqual(refused(built(), compilers={"xla"}), "compilers")
        self.assertEqual(refused(built(components=[{"kind": "compiler", "name": "xla"}])), "compilers")
        xla = built(components=[{"kind": "compiler", "name": "xla"}])
        self.assertEqual(refused(xla, stock={"xla"}), "")
        self.assertEqual(refused(xla, stock={"tvm"}), "compilers")
        self.assertEqual(refused(xla, stock={"xla"}, refused={"xla"}), "compilers")
        self.assertEqual(refused(built(), stock={"xla"}, compilers={"xla"}), "compilers")
        self.assertEqual(refused(built(), stock={"xla"}), "")
        self.assertEqual(refused(built(), cpu="ivybridge"), "asked_cpu")
        self.assertEqual(refused(built(accelerators=["nvidia:sm_80"]), acc_type="nvidia", gpu="sm_75"), "asked_gpu")
        self.assertEqual(refused(built(), sif=True), "sif")
        self.assertEqual(refused(mapping(optimised=True), sif=True), "")
        self.assertEqual(refused(built(failing=True)), "failing")
        self.assertEqual(refused(built(failing=True), allow_failing=True), "")


    def test_stock_has_no_options(self):
        asked = as_stock(Question("pytorch", optimised=False, version="2.1", acc_type="nvidia", cpu_type="arm", gpu="sm_80", compilers={"xla"}, method="source"))
        self.assertEqual(fails(built(optimised=False), asked, None), [])
        self.assertEqual([clause for clause, _ in fails(built(optimised=False, version="2.2", method="pip"), asked, None)], ["version", "method"])


class Best(unittest.TestCase):
    def better(self, preference, one, other, host=None, **question):
        """The one before the other, for that reason."""
        order = Order([one, other], Question("pytorch", **question), Host(host) if host else None)
        keys = order.key(one), order.key(other)
        self.assertLess(*keys)
        self.assertEqual(first_difference(*keys), preference)

    def test_each_preference(self):
        self.better("released", built(), built(version="2.2rc1"))
        self.better("newest", built(version="2.2rc1"), built(), version=">=2.1rc1")
        self.better("optimised", built(), built(optimised=False))
        h100 = {"cpu": "haswell", "accelerators": ["nvidia:sm_90"], "driver": "580.65.06"}
        gpu = lambda target, **more: built(accelerators=[f"nvidia:sm_{target}"], **more)
        self.better("machine code", gpu(90, optimised=False), gpu(80), h100, acc_type="nvidia")
        self.better("optimised", gpu(75), gpu(80, optimised=False), h100, acc_type="nvidia")
        self.better("optimised", gpu(80), gpu(90, optimised=False), acc_type="nvidia")  # no host
        self.better("cuda", gpu(90, cuda="12.8", tag="z"), gpu(90, cuda="11.8"), h100, acc_type="nvidia")
        self.better("cuda", gpu(90, cuda="11.8", tag="z"), gpu(90, cuda="12.8"), acc_type="nvidia")
        self.better("cuda", gpu(90, cuda="12.9", tag="z"), gpu(90, cuda="12.8"), acc_type="nvidia")
        added = lambda *names, kind="distributed", **more: built(components=[{"kind": kind, "name": name, **more} for name in names])
        self.better("fewer components", built(tag="z"), added("mpich"))
        self.better("fewer components", added("mpich"), added("mpich", "horovod"))
        self.better("name", added("debian", kind="base"), built(tag="z"))
        self.better("name", added("openblas", kind="library", optimised=True), built(tag="z"))
        self.better("fewer accelerators", mapping(), mapping(accelerators=["nvidia"]), optimised=False)
        self.better("newest", built(version="2.10"), built(version="2.9"))
        self.better("fresh", built(tag="z"), built(stale=True))
        self.better("fresh", built(tag="z"), built(tests={"passed": []}))
        self.better("fresh", built(tag="z", tests={"passed": ["a"]}), built(tests={"passed": ["a"], "not_run": {"b": "no GPU"}}))
        self.better("name", built(), built(tag="z", tests={"passed": ["a"]}))
        there, elsewhere = ({"passed": ["a"], "ran": {"a": {"cpu": cpu}}} for cpu in ("zen3", "zen2"))
        self.better("fresh", built(tag="z", tests=there), built(tests=elsewhere), {"cpu": "zen3"})
        self.better("fresh", built(tag="z", tests=there), built(tests={"passed": ["a"]}), {"cpu": "zen3"})
        self.better("fresh", built(tag="z", tests=there), built(tests={**there, "passed": ["a", "b"]}), {"cpu": "zen3"})
        self.better("fresh", built(tag="z", tests=elsewhere), built(tests={"passed": []}), {"cpu": "zen3"})
        self.better("name", built(tests=elsewhere), built(tag="z", tests=there))
        self.better("fresh", built(tag="z", optimised=False, cpu="x86_64"), mapping(cpu="x86_64"), {"cpu": "zen2"}, optimised=False)
        self.better("name", built(tag="a"), built())
        self.better("code", mapping(), mapping(code="d"), optimised=False)

    def test_gpus_count_by_the_least_of_them(self):
        gpu = lambda *targets: built(accelerators=[f"nvidia:sm_{one}" for one in targets])
        h100 = {"cpu": "haswell", "accelerators": ["nvidia:sm_90"]}
        self.better("machine code", gpu(90), gpu(61), h100, acc_type="nvidia")
        self.better("gpu", gpu(80), gpu(61), h100, acc_type="nvidia")
        self.better("gpu", gpu("90a"), gpu(90), h100, acc_type="nvidia")
        self.better("gpu", gpu(80, 90), gpu(90, 70), {**h100, "accelerators": ["nvidia:sm_90", "nvidia:sm_80"]}, acc_type="nvidia")
        worse = built(accelerators=["nvidia:sm_90"], gpu=["compute_80"])
        self.better("machine code", gpu(90), worse, h100, acc_type="nvidia")
        self.better("gpu", gpu(61), gpu(90), acc_type="nvidia")
        self.better("machine code", gpu(90), gpu(61), acc_type="nvidia", gpu="sm_90")
        self.better("gpu", gpu(61, 80), gpu(61), acc_type="nvidia")
        self.better("gpu", gpu(61), gpu(90), {"cpu": "haswell", "accelerators": ["nvidia"]}, acc_type="nvidia")

    def test_processors(self):
        cpu = lambda name: built(cpu=name)
        self.better("cpu", cpu("zen2"), cpu("haswell"), {"cpu": "zen2"})
        self.better("cpu", cpu("haswell"), cpu("zen"), {"cpu": "broadwell"})
        self.better("cpu", cpu("haswell"), cpu("x86_64_v2"), {"cpu": "zen4"})
        self.better("cpu", cpu("zen"), cpu("haswell"), {"cpu": "zen4"})
        self.better("cpu", cpu("neoverse_v1"), cpu("neoverse_n1"), {"cpu": "neoverse_v2"})  # SVE
        self.better("cpu", cpu("armv9.0a"), cpu("neoverse_v1"), {"cpu": "neoverse_v2"})  # SVE2
        self.better("cpu", cpu("neoverse_n1"), cpu("cortex_a72"), {"cpu": "neoverse_v1"})
        self.better("cpu", cpu("x86_64_v2"), cpu("zen4"))
        self.better("cpu", cpu("x86_64_v2"), cpu("neoverse_v1"))
        self.better("cpu", mapping(), mapping(cpu="x86_64"), optimised=False)
        self.better("cpu", mapping(cpu="x86_64"), mapping(), {"cpu": "zen2"}, optimised=False)
        self.better("cpu", cpu("zen4"), cpu("x86_64_v2"), cpu="zen4")
        guest = {"cpu": "x86_64_v4", "vendor": "AuthenticAMD", "features": sorted(facts.processor("zen4").needs)}
        self.better("cpu", cpu("zen4"), cpu("skylake_avx512"), guest)
        self.better("cpu", cpu("haswell"), built(verdict="exceeds", exceeding=["avx512f"]))

    def test_measured(self):
        here = {"cpu": "zen2", "model": "EPYC", "cores": 64}
        of = lambda *rows, **image: built(measurements=list(rows), **image)
        self.better("measured", of(measurement(9)), built(cpu="zen2"), here)
        self.better("cpu", built(cpu="zen2"), of(measurement(9, cpu="westmere", model="Xeon")), here)
        self.better("measured", of(measurement(9)), of(measurement(10)), here)
        self.better("measured", of(measurement(10, "images/s")), of(measurement(9, "images/s")), here)
        self.better("name", of(measurement(10, spread=1), tag="a"), of(measurement(8, spread=1)), here)  # 9 to 11, 7 to 9
        self.better("measured", of(measurement(8, taken="2026-01-02T00:00:00Z"), measurement(12)), of(measurement(9)), here)
        self.better("name", of(measurement(9, "bogus"), tag="a"), of(measurement(8, "bogus")), here)
        self.better("measured", of(measurement(9, cores=64)), of(measurement(8, cores=32)), here)  # the nearer host alone counts
        self.better("name", of(measurement(9), tag="a"), of(measurement(8)))  # no host
        in_version = lambda median, files, day: {**measurement(median, taken=f"2026-01-{day:02}T00:00:00Z"), "workload_files": files}
        self.better("measured", of(in_version(9, "one", 1)), of(in_version(10, "one", 1), in_version(1, "two", 2)), here)  # one version of both
        self.better("measured", of(in_version(10, "one", 1), in_version(1, "two", 2)), of(in_version(9, "one", 1), in_version(2, "two", 1)), here)


    def test_gain(self):
        here = {"cpu": "zen2", "model": "EPYC", "cores": 64}
        of = lambda median=9, rounds=7, low=None, high=None, **more: built(measurements=[
            {**measurement(median, **{}), "rounds": rounds, **({"over_stock": {"key": "a", "ratio": 1, "low": low, "high": high}} if low else {}), **more}])
        proven, none, slower, stock = of(20, low=1.1, high=1.2), of(8, low=0.9, high=1.1), of(8, low=0.8, high=0.9), of(8, stock=True)
        unknown = of(30)
        for better, worse in [(proven, unknown), (unknown, none), (unknown, stock), (none, slower), (stock, slower), (built(), slower), (built(), none)]:
            self.better("gain", better, worse, here, optimised=True)
        self.better("measured", stock, proven, here, optimised=False)
        self.better("measured", of(8, rounds=6, low=0.8, high=0.9), unknown, here, optimised=True)  # too few rounds


class Worlds(unittest.TestCase):
    def test_a_seed_is_a_world(self):
        ask = "import sys; sys.path.insert(0, sys.argv[1]); from world import World; print(World(4711).text())"
        texts = {subprocess.run([sys.executable, "-c", ask, os.path.dirname(os.path.abspath(__file__))], env={**os.environ, "PYTHONHASHSEED": str(seed)},
                                capture_output=True, check=True, text=True).stdout for seed in (1, 2)}
        self.assertEqual(len(texts), 1)

    def test_everything_decides_and_wrong_answers_are_noticed(self):
        decided, wrong = collections.Counter(), collections.Counter()
        for seed in range(1, 200):
            world = World(seed)
            images = [Image(row) for row in world.rows]
            for question, host in world.cases:
                judged = Judged(images, question, host)
                decided.update(judged.decided())
                if judged.ranked:
                    self.assertIn("runs there and suits", judged.why_not(NONE)[0])
                for image in images:
                    answer, failed = (image.name, image.code, image.digest), judged.fails(image)
                    if answer != judged.answer():
                        wrong["unfit" if failed else "worse"] += 1
                        self.assertIn("does not run there" if failed else "is better than", judged.why_not(answer)[0])
        for name in [*PREFERENCES, *(f"clause {clause.__name__}" for clause in CLAUSES)]:
            self.assertGreater(decided[name], 0, name)
        self.assertGreater(wrong["worse"], 1000)
        self.assertGreater(wrong["unfit"], 10000)


if __name__ == "__main__":
    unittest.main()
