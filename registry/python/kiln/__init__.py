"""Ask a kiln index for an image, without a process for each question.

>>> import kiln
>>> registry = kiln.Registry("/srv/kiln")
>>> registry.reference({"optimisation": {...}}, host="zen4,nvidia:sm_90")
'docker://registry.site:5000/ai/pytorch:2.6.0-...'

The C library libkiln_registry does the work, by ctypes: nothing is compiled here, and any Python from 3.8 on does. Threads may
share a Registry. A snapshot that is published meanwhile is seen by the next question.
"""
import ctypes
import json
import os
import pathlib
from typing import Any, Dict, List, Mapping, Optional, Union

__all__ = ["Registry", "Error", "UsageError", "InputError", "NoMatch", "StoreError", "library_version"]

Document = Union[str, bytes, Mapping[str, Any]]
Host = Union[str, Mapping[str, Any]]
Folder = Union[str, "os.PathLike[str]"]

_ABI = 2
_ALLOW_FAILING, _LENIENT = 1, 2


class Error(Exception):
    """What a question ends with when there is no answer. str() is for people; `code` is kiln's exit code; `answer` has the reasons,
    as `kiln select --json` prints them, where select() asked and there are any."""

    code = 70
    answer = None  # type: Optional[Dict[str, Any]]


class UsageError(Error):
    """The question is put wrongly: an unknown format, a negative snapshot."""

    code = 2


class InputError(Error):
    """The document or the host is wrong, or has a key that is not known where images are chosen."""

    code = 3


class NoMatch(Error):
    """No image matches."""

    code = 4


class StoreError(Error):
    """The index, or the image that is the answer, is damaged or not there; the text says what mends it."""

    code = 8


_ERRORS = {2: UsageError, 3: InputError, 4: NoMatch, 8: StoreError}


class _OpenOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("share", ctypes.c_char_p), ("targets", ctypes.c_char_p)]


class _SelectOptions(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("host", ctypes.c_char_p),
        ("format", ctypes.c_char_p),
        ("snapshot", ctypes.c_int64),
        ("flags", ctypes.c_uint32),
        ("limit", ctypes.c_uint32),
    ]


class _JobOptions(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("host", ctypes.c_char_p),
        ("infrastructure", ctypes.c_char_p),
        ("scheduler", ctypes.c_char_p),
        ("runtime", ctypes.c_char_p),
        ("snapshot", ctypes.c_int64),
        ("flags", ctypes.c_uint32),
    ]


def _library_file() -> str:
    """$KILN_REGISTRY_LIBRARY, else the one that this module was installed with, else what the loader finds."""
    named = os.environ.get("KILN_REGISTRY_LIBRARY")
    if named:
        return named
    name = "libkiln_registry.so.1"
    for folder in list(pathlib.Path(__file__).resolve().parents)[1:5]:
        if (folder / name).exists():
            return str(folder / name)
    return name


def _load() -> ctypes.CDLL:
    library = ctypes.CDLL(_library_file())
    text, out = ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)
    ask = [ctypes.c_void_p, text, ctypes.c_size_t, ctypes.POINTER(_SelectOptions), out, out]
    for name, result, arguments in (
        ("abi", ctypes.c_uint, []),
        ("version", text, []),
        ("open", ctypes.c_int, [text, ctypes.POINTER(_OpenOptions), out, out]),
        ("close", None, [ctypes.c_void_p]),
        ("select", ctypes.c_int, ask),
        ("reference", ctypes.c_int, ask),
        ("explain", ctypes.c_int, ask),
        ("job", ctypes.c_int, [ctypes.c_void_p, text, ctypes.c_size_t, ctypes.POINTER(_JobOptions), out, out]),
        ("snapshot", ctypes.c_int, [ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64), out]),
        ("snapshots", ctypes.c_int, [ctypes.c_void_p, out, out]),
        ("images", ctypes.c_int, [ctypes.c_void_p, ctypes.c_int64, out, out]),
        ("free", None, [ctypes.c_void_p]),
    ):
        function = getattr(library, "kiln_registry_" + name)
        function.restype, function.argtypes = result, arguments
    if library.kiln_registry_abi() < _ABI:
        raise ImportError("libkiln_registry is older than this module")
    return library


_library = _load()


def library_version() -> str:
    """The version of the C library that answers, such as "0.1.0"."""
    version = _library.kiln_registry_version()  # type: bytes
    return version.decode()


def _bytes(text: Union[str, bytes, Mapping[str, Any], None]) -> Optional[bytes]:
    if text is None or isinstance(text, bytes):
        return text
    return (text if isinstance(text, str) else json.dumps(text)).encode()


def _take(place: ctypes.c_void_p) -> str:
    """The text that the library gave, which it frees."""
    if not place.value:
        return ""
    try:
        return ctypes.string_at(place.value).decode("utf-8", "replace")
    finally:
        _library.kiln_registry_free(place)


def _error(status: int, text: str) -> Error:
    error = _ERRORS.get(status, Error)(text)
    error.code = status
    return error


class Registry:
    """The index of one state folder, which is read and never locked."""

    def __init__(self, state: Folder, *, share: Optional[Folder] = None, targets: Optional[Folder] = None) -> None:
        """`state`: where `kiln publish` publishes. `share`: what kiln was installed with (default: beside the library).
        `targets`: a folder with the site's own hosts (default: those of `share`)."""
        self._registry = ctypes.c_void_p()
        options = _OpenOptions(
            ctypes.sizeof(_OpenOptions), os.fsencode(share) if share else None, os.fsencode(targets) if targets else None
        )
        error = ctypes.c_void_p()
        status = _library.kiln_registry_open(
            os.fsencode(state), ctypes.byref(options), ctypes.byref(self._registry), ctypes.byref(error)
        )
        why = _take(error)
        if status != 0:
            raise _error(status, why)

    def close(self) -> None:
        """Ends it, when no other thread asks any more. Twice is no mistake."""
        registry, self._registry = self._registry, ctypes.c_void_p()
        _library.kiln_registry_close(registry)

    def __enter__(self) -> "Registry":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_registry", None):
            self.close()

    def reference(
        self,
        dsl: Document,
        *,
        host: Optional[Host] = None,
        format: Optional[str] = None,
        snapshot: int = 0,
        allow_failing: bool = False,
        lenient: bool = False,
    ) -> str:
        """The best image, as `kiln select` prints it. `host`: a description (a mapping, or its JSON), "here", "any", or the name
        of a target; nothing: the document's, else this machine. `format`: tag, digest, oci or sif. Raises NoMatch, InputError,
        StoreError."""
        return self._ask("reference", dsl, host, format, snapshot, allow_failing, lenient, 0)

    def select(
        self,
        dsl: Document,
        *,
        host: Optional[Host] = None,
        format: Optional[str] = None,
        snapshot: int = 0,
        allow_failing: bool = False,
        lenient: bool = False,
        limit: int = 0,
    ) -> Dict[str, Any]:
        """The whole answer, as `kiln select --json` prints it (docs/query.md). `limit`: no more than so many other images of a
        kind; 0: 20. Raises as reference(); `answer` of the error has the reasons then."""
        answer = json.loads(self._ask("select", dsl, host, format, snapshot, allow_failing, lenient, limit))
        return answer  # type: ignore[no-any-return]

    def explain(
        self,
        dsl: Document,
        *,
        host: Optional[Host] = None,
        format: Optional[str] = None,
        snapshot: int = 0,
        allow_failing: bool = False,
        lenient: bool = False,
        limit: int = 0,
    ) -> str:
        """The reasons, as `kiln select --explain` prints them."""
        return self._ask("explain", dsl, host, format, snapshot, allow_failing, lenient, limit)

    def job(
        self,
        dsl: Document,
        *,
        host: Optional[Host] = None,
        infrastructure: Optional[Host] = None,
        scheduler: Optional[str] = None,
        runtime: Optional[str] = None,
        snapshot: int = 0,
        allow_failing: bool = False,
        lenient: bool = False,
    ) -> Dict[str, Any]:
        """The job script of a document with its best image, as `kiln job --json` prints it (docs/run-a-job.md): `job_script` is its
        text. `infrastructure`: a name in the index, or a description (a mapping, or its JSON). `scheduler` and `runtime`: as the
        options of `kiln job`. Raises as reference()."""
        document = _bytes(dsl) or b""
        options = _JobOptions(ctypes.sizeof(_JobOptions))
        options.host, options.infrastructure = _bytes(host), _bytes(infrastructure)
        options.scheduler, options.runtime = _bytes(scheduler), _bytes(runtime)
        options.snapshot = snapshot
        options.flags = (_ALLOW_FAILING if allow_failing else 0) | (_LENIENT if lenient else 0)
        text, error = ctypes.c_void_p(), ctypes.c_void_p()
        status = _library.kiln_registry_job(
            self._registry, document, len(document), ctypes.byref(options), ctypes.byref(text), ctypes.byref(error)
        )
        found, why = _take(text), _take(error)
        if status != 0:
            raise _error(status, why)
        return json.loads(found)  # type: ignore[no-any-return]

    def snapshot(self) -> int:
        """The number of the current snapshot; 0 when nothing was published yet."""
        number, error = ctypes.c_int64(), ctypes.c_void_p()
        status = _library.kiln_registry_snapshot(self._registry, ctypes.byref(number), ctypes.byref(error))
        why = _take(error)
        if status != 0:
            raise _error(status, why)
        return number.value

    def snapshots(self) -> List[Dict[str, Any]]:
        """All of them, newest first: number, created, images, note, current."""
        return self._list(_library.kiln_registry_snapshots)

    def images(self, snapshot: int = 0) -> List[Dict[str, Any]]:
        """The images of a snapshot; 0: of the current one."""
        return self._list(_library.kiln_registry_images, snapshot)

    def _list(self, call: Any, *arguments: Any) -> List[Dict[str, Any]]:
        text, error = ctypes.c_void_p(), ctypes.c_void_p()
        status = call(self._registry, *arguments, ctypes.byref(text), ctypes.byref(error))
        found, why = _take(text), _take(error)
        if status != 0:
            raise _error(status, why)
        return json.loads(found)  # type: ignore[no-any-return]

    def _ask(
        self,
        call: str,
        dsl: Document,
        host: Optional[Host],
        format: Optional[str],
        snapshot: int,
        allow_failing: bool,
        lenient: bool,
        limit: int,
    ) -> str:
        document = _bytes(dsl) or b""
        options = _SelectOptions(ctypes.sizeof(_SelectOptions))
        options.host, options.format = _bytes(host), _bytes(format)
        options.snapshot, options.limit = snapshot, limit
        options.flags = (_ALLOW_FAILING if allow_failing else 0) | (_LENIENT if lenient else 0)
        text, error = ctypes.c_void_p(), ctypes.c_void_p()
        status = getattr(_library, "kiln_registry_" + call)(
            self._registry, document, len(document), ctypes.byref(options), ctypes.byref(text), ctypes.byref(error)
        )
        found, why = _take(text), _take(error)
        if status == 0:
            return found
        failure = _error(status, why)
        if call == "select" and found:
            failure.answer = json.loads(found)
        raise failure
