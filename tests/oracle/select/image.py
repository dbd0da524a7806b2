"""An image, a host and a question, read from what the program gets."""
import facts
import gpus
from pools import COMPILERS


class Image:
    """Of a world's `images`."""

    def __init__(self, row):
        record = row["image"]
        self.row, self.record = row, record
        self.mapping = "manifest" not in record
        self.name = record["reference"] if self.mapping else f"{record['repository']}:{record['tag']}"
        self.code = record.get("code", "")
        self.digest = record.get("manifest", "")
        self.application, self.version = record["application"], record["version"]
        self.prerelease = facts.is_prerelease(self.version)
        self.method, self.optimised = record.get("method", ""), record["optimised"]
        self.parts = record.get("components", [])
        self.components = {one["name"]: one.get("version", "") for one in record.get("components", ()) if one["kind"] != "compiler"}
        self.compilers = {one["name"] for one in record.get("components", ()) if one["kind"] == "compiler"}
        self.selectors = record.get("selectors", {})
        self.compilers |= {name for name, value in self.selectors.items() if name in COMPILERS and value == "true"}
        self.cpu = facts.processor(record["cpu"]) if "cpu" in record else None
        self.declared = record.get("accelerators", [])
        self.vendors = {gpus.code(one).vendor for one in self.declared}
        self.runnable = gpus.with_ptx(self.declared)
        self.sif = any(one["kind"] == "sif" for one in record.get("attachments", ()))
        self.requires = record.get("requires", {})
        evidence = record.get("evidence", {})
        self.missing, self.needed_glibc = evidence.get("missing", []), evidence.get("glibc", "")
        self.exceeding = _exceeding(evidence, self.cpu)
        self.found = evidence.get("gpu", [])
        self.stale, self.failing, self.retired = row["stale"], row["failing"], row["retired"]
        tests = record.get("tests", {"passed": [""]})  # of before it was kept: not known, as good as tested
        self.untested = self.mapping or bool(tests.get("not_run")) or not tests.get("passed")
        self.runs = [tests.get("ran", {}).get(test) for test in tests.get("passed", [])]
        self.measurements = row["measurements"]

    def is_tested_like(self, host):
        """Each test was run on the same microarchitecture, on the processor itself, that of an image for GPUs beside the same ones."""
        return bool(self.runs) and all(
            run and run.get("cpu") == host.cpu_name and "emulator" not in run and (not self.declared or run.get("accelerators") and sorted(run["accelerators"]) == sorted(host.gpus))
            for run in self.runs)

    def found_of(self, vendor):
        return [one for one in self.found if gpus.code(one).vendor == vendor]


def _exceeding(evidence, target):
    """Features beyond the target; a record that does not list them has what runs without being chosen."""
    if evidence.get("verdict") != "exceeds":
        return set()
    return set(evidence.get("exceeding") or set(evidence.get("unconditional", ())) - target.features)


class Host:
    """A known one."""

    def __init__(self, written):
        self.written = written
        self.cpu, self.cpu_name = facts.processor(written["cpu"]), written["cpu"]
        self.features = facts.with_aliases(written["features"] if "features" in written else self.cpu.features)
        self.vendor = written.get("vendor") or ("" if self.cpu.generic else self.cpu.vendor)
        self.gpus = written.get("accelerators", [])
        self.driver, self.kernel = written.get("driver", ""), written.get("kernel", "")
        self.mpi, self.glibc = written.get("mpi", ""), written.get("glibc", "")
        self.huge_pages = written.get("transparent_hugepages", "")
        self.model, self.cores = written.get("model", ""), written.get("cores", 0)
        self.ranked_as = self.cpu
        if self.cpu.generic and written.get("vendor") and written.get("features"):
            self.ranked_as = facts.best_known(self.cpu.name, self.vendor, self.features)

    def gpus_of(self, vendor):
        return [one for one in self.gpus if gpus.code(one).vendor == vendor]
