"""The host's rates, without PyTorch: sizes, units, file systems, a real file."""
import os
import shutil
import tempfile
import unittest

import recipe_files  # noqa: F401 (finds the modules)
import host_rates
from harness import Wrong


class HostRates(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        return path

    def test_arrays_are_four_times_the_caches(self):
        mib = 1 << 20
        self.assertEqual(32 * mib // 8, host_rates.array_length(2 * mib, 1 << 40))
        self.assertEqual(1024 * mib // 8, host_rates.array_length(256 * mib, 1 << 40))
        with self.assertRaisesRegex(Wrong, "the triad needs 3221225472 bytes"):
            host_rates.array_length(256 * mib, 6144 * mib - 2)
        host_rates.array_length(256 * mib, 6144 * mib)

    def test_the_largest_cache_counts(self):
        for index, size in (("index0", "32K\n"), ("index2", "2048K\n"), ("index3", "105M\n"), ("index4", "odd\n")):
            self.write("cache/%s/size" % index, size)
        self.write("cache/uevent", "")
        self.assertEqual(105 << 20, host_rates.cache_bytes(os.path.join(self.folder, "cache")))
        self.assertEqual(0, host_rates.cache_bytes(os.path.join(self.folder, "none")))

    def test_free_memory(self):
        meminfo = self.write("meminfo", "MemTotal: 9 kB\nMemAvailable:      5 kB\n")
        for limit, free in (("max\n", 5120), ("4000\n", 4000), ("9000\n", 5120)):
            self.assertEqual(free, host_rates.free_bytes(meminfo, self.write("memory.max", limit)))
        self.assertEqual(5120, host_rates.free_bytes(meminfo, "/nowhere"))
        with self.assertRaisesRegex(Wrong, "no MemAvailable"):
            host_rates.free_bytes(self.write("meminfo", "MemTotal: 9 kB\n"))

    def test_a_rate_is_an_amount_by_its_time(self):
        seconds = [0, 1, 1, 1.5, 2, 4]
        found = host_rates.rate("GB/s", 3e9, lambda number: None, 2, lambda: seconds.pop(0))
        self.assertEqual({"unit": "GB/s", "samples": [6.0, 1.5]}, found)

    def test_the_file_system_is_that_of_the_deepest_mount(self):
        mounts = self.write("mounts", "a / overlay rw 0 0\nb /tmp tmpfs rw 0 0\nc /tmp/a\\040b ext4 rw 0 0\nd /tmp xfs rw 0 0\n")
        for folder, kind in (("/usr", "overlay"), ("/tmp", "xfs"), ("/tmporary", "overlay"), ("/tmp/a b/c", "ext4")):
            self.assertEqual(kind, host_rates.file_system(folder, mounts))

    def test_a_disk(self):
        found = host_rates.disk_rates(self.folder, 2, 4 << 20)
        self.assertEqual({"disk_write", "disk_read"}, set(found))
        for each in found.values():
            self.assertEqual(("GB/s", 2), (each["unit"], len(each["samples"])))
            self.assertGreater(min(each["samples"]), 0)
        self.assertEqual([], os.listdir(self.folder))

    def test_a_disk_without_room(self):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        import signal

        before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, hard))
        try:
            with self.assertRaisesRegex(Wrong, "cannot measure the disk"):
                host_rates.disk_rates(self.folder, 1, 4 << 20)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            signal.signal(signal.SIGXFSZ, before)
        self.assertEqual([], os.listdir(self.folder))


if __name__ == "__main__":
    unittest.main()
