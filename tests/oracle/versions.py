"""Versions and ranges of them (docs/formats/matrix.md, "Versions and ranges")."""
import functools
import re

_WORDS = {"dev": -4, "a": -3, "alpha": -3, "b": -2, "beta": -2, "rc": -1, "c": -1, "pre": -1, "post": 1}
_RELATION = re.compile(r"(<=|>=|==|!=|~=|<|>|=|)\s*([^\s,<>=!]+)[\s,]*")


def is_version(text):
    """Letters, digits and . + - _ ~ : make a version; `*` or a bound make none."""
    return re.fullmatch(r"[A-Za-z0-9.+_~:-]{1,128}", text) is not None


def _parts(text):
    """Runs of digits and runs of letters; everything else only divides them. Up to the first `+`."""
    found = [int(run) if run.isdigit() else run.lower() for run in re.findall(r"[0-9]+|[A-Za-z]+", text.split("+", 1)[0])]
    return found[1:] if len(found) > 1 and found[0] == "v" else found


def _local(text):
    """What stands behind the first `+`."""
    return text.split("+", 1)[1] if "+" in text else ""


def _rank(part):
    if isinstance(part, int):
        return 0 if part == 0 else 2
    return _WORDS.get(part, 3)


def _compare_parts(a, b):
    if isinstance(a, int) and isinstance(b, int):
        return (a > b) - (a < b)
    if _rank(a) != _rank(b):
        return -1 if _rank(a) < _rank(b) else 1
    a, b = str(a), str(b)
    return (a > b) - (a < b)


def compare(a, b):
    """Less than, equal to or greater than 0, as version `a` is older than, the same as or newer than `b`."""
    left, right = _parts(a), _parts(b)
    longest = max(len(left), len(right))
    left += [0] * (longest - len(left))
    right += [0] * (longest - len(right))
    for one, other in zip(left, right):
        order = _compare_parts(one, other)
        if order != 0:
            return order
    return (_local(a) > _local(b)) - (_local(a) < _local(b))


def in_series(series, version):
    """2.6 is 2.6.0 and 2.6.3 and never 2.60."""
    want, have = _parts(series), _parts(version)
    have += [0] * (len(want) - len(have))
    if any(_compare_parts(one, other) != 0 for one, other in zip(want, have)):
        return False
    return _local(series) in ("", _local(version))


def clauses(text):
    """The bounds of a range, all of which must hold; `*` is none."""
    return [(relation, version) for relation, version in _RELATION.findall(text) if version != "*" or relation]


def contains(text, version):
    return all(_holds(relation, bound, version) for relation, bound in clauses(text))


def _holds(relation, bound, version):
    order = compare(version, bound)
    if relation == "":
        return in_series(bound.removesuffix(".*"), version)
    if relation == "~=":  # ~=2.1.3: at least that, within 2.1
        return order >= 0 and in_series(bound.rpartition(".")[0], version)
    if relation in ("=", "=="):
        return order == 0
    if relation == "!=":
        return not in_series(bound.removesuffix(".*"), version)
    if relation == "<":
        return order < 0
    if relation == "<=":
        return order <= 0 or in_series(bound, version)
    if relation == ">":
        return order > 0 and not in_series(bound, version)
    return order >= 0


def newest_first(versions):
    return sorted(versions, key=functools.cmp_to_key(compare), reverse=True)
