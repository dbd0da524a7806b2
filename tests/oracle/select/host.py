"""Random hosts near an image and a question: just able to run it, or just not."""
import facts
from pools import DRIVERS, EXTRA_FEATURES, GLIBCS, HUGE_PAGES, KERNELS, MPIS, VENDORS

NOTHING_KNOWN = 22  # percent


def random_host(dice, theme, image, question):
    """What the program reads as a host; None: nothing is known of it."""
    if dice.chance(NOTHING_KNOWN) and not theme.two_makers:
        return None
    if theme.measured and dice.chance(75):  # a machine where something was measured
        host = dict(dice.choice(theme.machines))
        if dice.chance(20):
            host["cores"] = dice.choice([16, 32, 64])
        if dice.chance(20):
            host["accelerators"] = theme.host_gpus() if dice.chance(70) else []
    else:
        host = {"cpu": _cpu(dice, theme, image)}
        if question.acc_type and dice.chance(92) or dice.chance(20):
            host["accelerators"] = theme.host_gpus()
    _features(dice, host, image)
    if dice.chance(10):
        host["vendor"] = dice.choice(VENDORS)
    if dice.chance(70 if "cuda" in image.get("requires", {}) else 25):
        host["driver"] = _near_driver(dice, image)
    if dice.chance(15 if theme.loose else 45):
        host["kernel"] = dice.choice(KERNELS)
    if dice.chance(80 if "transparent_hugepages" in image.get("requires", {}) else 10):
        host["transparent_hugepages"] = dice.choice(HUGE_PAGES)
    its_mpi = image.get("requires", {}).get("mpi")
    if dice.chance(65 if its_mpi else 25):
        host["mpi"] = dice.choice([one for one in MPIS if not its_mpi or one[:5] == its_mpi[:5] or dice.chance(25)] or MPIS)
    if dice.chance(60):
        host["glibc"] = dice.choice(GLIBCS)
    return {key: value for key, value in host.items() if value}


def _cpu(dice, theme, image):
    if "cpu" not in image or dice.chance(35):
        return dice.choice(theme.cpus)
    if dice.chance(25):
        return image["cpu"]
    heirs = [one.name for one in facts.processors() if image["cpu"] in one.ancestors]
    return dice.choice(heirs or [image["cpu"]])


def _features(dice, host, image):
    """What /proc/cpuinfo might say: all, one short, another's; of a virtual machine with a generic name."""
    cpu = facts.processor(host["cpu"])
    if not cpu.features or not dice.chance(45):
        return
    features = set(cpu.features)
    if dice.chance(50):
        features -= facts.NOT_ASKED_FOR
    wanted = facts.processor(image["cpu"]) if "cpu" in image else cpu
    if dice.chance(35) and wanted.family == cpu.family:  # as good as the image's
        features |= wanted.features
        if "model" not in host and dice.chance(60):
            generic = sorted(one for one in wanted.line if facts.processor(one).generic)
            host["cpu"] = dice.choice(generic)
            host["vendor"] = wanted.vendor if not wanted.generic else dice.choice(VENDORS)
    if dice.chance(35):
        features -= set(dice.some(sorted(wanted.features & features), 1, 1))
    if dice.chance(30):
        features |= set(dice.some(EXTRA_FEATURES[cpu.family], 1, 3))
    if "ssse3" not in features and "sse3" in features and dice.chance(50):
        features = features - {"sse3"} | {"pni"}
    host["features"] = sorted(features)


def _near_driver(dice, image):
    """The very least, the one that its CUDA came with, or between."""
    cuda = image.get("requires", {}).get("cuda")
    if not cuda or dice.chance(15):
        return dice.choice(DRIVERS)
    least, own = facts.least_driver(cuda), facts.toolkit_driver(cuda)
    between = [one for one in DRIVERS if not facts.older(one, least) and facts.older(one, own)]
    return dice.choice([least, least, own, own, _just_before(least), _just_before(own), *dice.some(between, 0, 3)])


def _just_before(driver):
    parts = [int(one) for one in driver.split(".")]
    if parts[-1] == 0 or len(parts) == 1:
        return f"{parts[0] - 1}.999.99"
    return ".".join([*driver.split(".")[:-1], f"{parts[-1] - 1:02}"])
