# Finds the tables of the archspec Python package that `ci/setup` installs; they are never copied into this repository.
# Sets KILN_ARCHSPEC_JSON (microarchitectures.json) and KILN_ARCHSPEC_VERSION; KILN_ARCHSPEC_PYTHON is the interpreter
# that has the package, which the tests compare with.
set(KILN_ARCHSPEC_PYTHON "${CMAKE_SOURCE_DIR}/.cache/venv/bin/python3" CACHE FILEPATH "a Python that has archspec")
if(NOT EXISTS "${KILN_ARCHSPEC_PYTHON}")
  message(FATAL_ERROR "archspec is missing: run ci/setup, or give -DKILN_ARCHSPEC_PYTHON=<a Python with archspec>")
endif()
execute_process(
  COMMAND "${KILN_ARCHSPEC_PYTHON}" -c "import archspec, importlib.metadata, pathlib; print(pathlib.Path(archspec.__file__).parent / 'json' / 'cpu' / 'microarchitectures.json'); print(importlib.metadata.version('archspec'))"
  OUTPUT_VARIABLE archspec_answer OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE archspec_status)
if(NOT archspec_status EQUAL 0)
  message(FATAL_ERROR "${KILN_ARCHSPEC_PYTHON} has no archspec: run ci/setup")
endif()
string(REPLACE "\n" ";" archspec_answer "${archspec_answer}")
list(GET archspec_answer 0 KILN_ARCHSPEC_JSON)
list(GET archspec_answer 1 KILN_ARCHSPEC_VERSION)
message(STATUS "archspec ${KILN_ARCHSPEC_VERSION}: ${KILN_ARCHSPEC_JSON}")
