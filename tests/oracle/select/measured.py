"""Which measurements compare with a host and with one another, and the classes of equal speed that they make."""
import re

SAME_MACHINE, SAME_MODEL, SAME_CPU = range(3)
PROVEN, UNKNOWN, NONE, SLOWER = range(4)  # what is known of a gain over stock
LEAST_ROUNDS = 7
LESS = re.compile(r"(ns|us|µs|ms|s|min|h)(/.*)?")
MORE = re.compile(r".*/(s|min|h)")


def direction(unit):
    """-1: less is better, 1: more is, 0: nobody knows."""
    if LESS.fullmatch(unit):
        return -1
    return 1 if MORE.fullmatch(unit) else 0


def kind_of(taken_on, host):
    """How near the host of a measurement is; None: it counts for nothing."""
    if host.model and taken_on.get("model") == host.model:
        return SAME_MACHINE if taken_on.get("cores", 0) == host.cores else SAME_MODEL
    return SAME_CPU if taken_on.get("cpu") == host.cpu.name else None


def comparable(image, question, host):
    """(workload and unit, kind and host, measurement) of each that compares."""
    for one in image.measurements:
        there = one["host"]
        kind = kind_of(there, host)
        if kind is None or direction(one["unit"]) == 0 or question.workload not in ("", one["workload"]):
            continue
        if image.declared and sorted(there.get("accelerators", [])) != sorted(host.gpus):
            continue
        yield (one["workload"], one["unit"]), (kind, there.get("model", ""), there.get("cpu", ""), there.get("cores", 0)), one


def _of_most(images_of, before=lambda name: ()):
    """The key that most images have; `before` goes before their number, the key itself comes last."""
    return min(images_of, key=lambda name: (before(name), -len(images_of[name]), name))


def figures(images, question, host):
    """Of each image that has one: the measurement that counts; and its unit's direction."""
    found = [(id(image), *one) for image in images for one in comparable(image, question, host)]
    if not found:
        return {}, 0
    sought = _of_most(_images_by(found, 1))
    found = [one for one in found if one[1] == sought]
    place = _of_most(_images_by(found, 2), before=lambda name: name[0])
    found = [one for one in found if one[2] == place]
    version = _version(found)
    better = direction(sought[1])
    result = {}
    for image, _, _, one in found:
        if one.get("workload_files", "") == version and (image not in result or _after(one, result[image], better)):
            result[image] = one
    return result, better


def _version(found):
    """The files of the workload that most images were measured with, then the ones that were in use last."""
    images, last = {}, {}
    for image, _, _, one in found:
        files = one.get("workload_files", "")
        images.setdefault(files, set()).add(image)
        last[files] = max(last.get(files, ""), one["taken"])
    best = max((len(images[files]), last[files]) for files in images)
    return min(files for files in images if (len(images[files]), last[files]) == best)


def _images_by(found, position):
    images_of = {}
    for one in found:
        images_of.setdefault(one[position], set()).add(one[0])
    return images_of


def _after(one, other, better):
    return (one["taken"], better * one["median"]) > (other["taken"], better * other["median"])


def classes(images, question, host):
    """id of image → class, 0 the fastest."""
    left, better = figures(images, question, host)
    result, number = {}, 0
    while left:
        fastest = max(left.values(), key=lambda one: better * one["median"])
        equal = [image for image, one in left.items() if one["low"] <= fastest["high"] and fastest["low"] <= one["high"]]
        for image in equal:
            result[image] = number
            del left[image]
        number += 1
    return result


def gain(one):
    """Of an image, by the measurement that counts."""
    if one.get("rounds", 0) < LEAST_ROUNDS:
        return UNKNOWN
    interval = one.get("over_stock")
    if interval is None:
        return NONE if one.get("stock") else UNKNOWN
    if interval["low"] > 1:
        return PROVEN
    return SLOWER if interval["high"] < 1 else NONE


def gains(images, question, host):
    """id of image → what is known of its gain."""
    return {image: gain(one) for image, one in figures(images, question, host)[0].items()}
