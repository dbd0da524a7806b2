/* kiln_registry: ask a kiln index for an image, from a program, without a process for each question.
 *
 * C99, and a stable binary interface: a symbol keeps its meaning; structures grow only at their end and begin
 * with their size; no exception leaves the library. Several threads may ask one registry at once. Text is
 * UTF-8. docs/query.md has examples and describes the JSON of an answer.
 *
 *     kiln_registry *registry = NULL;
 *     char *answer = NULL, *error = NULL;
 *     int status = kiln_registry_open("/srv/kiln", NULL, &registry, &error);
 *     if (status == KILN_DONE)
 *       status = kiln_registry_reference(registry, dsl, strlen(dsl), NULL, &answer, &error);
 *     if (status == KILN_DONE)
 *       puts(answer);
 *     else
 *       fprintf(stderr, "%s\n", error);
 *     kiln_registry_free(answer);
 *     kiln_registry_free(error);
 *     kiln_registry_close(registry);
 */
#ifndef KILN_REGISTRY_H
#define KILN_REGISTRY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Increases with each new symbol, never decreases. */
#define KILN_REGISTRY_ABI 2

/* How a call ended: the exit codes of the program `kiln`. */
enum kiln_status {
  KILN_DONE = 0,
  KILN_INTERNAL = 70,    /* a mistake of kiln, or no memory */
  KILN_USAGE = 2,        /* a null pointer, a wrong option */
  KILN_INPUT = 3,        /* the document or the host is wrong */
  KILN_NO_MATCH = 4,     /* no image, or no snapshot of that number */
  KILN_TOOL_MISSING = 5, /* archspec's tables are missing where kiln is installed */
  KILN_STORE = 8         /* the index, or the image of the answer, is damaged or missing */
};

typedef struct kiln_registry kiln_registry;

/* Locations of files. Each comment states the effect of NULL or "". */
struct kiln_open_options {
  size_t size;         /* sizeof(struct kiln_open_options) */
  const char* share;   /* kiln's installed files: archspec's tables, recipes, targets. NULL: share/kiln next
                          to the library's folder */
  const char* targets; /* the site's own hosts. NULL: those of share */
};

enum kiln_select_flags {
  KILN_ALLOW_FAILING = 1, /* also images that fail a test of today's recipes */
  KILN_LENIENT = 2        /* an unknown key that affects the choice is a note, not an error */
};

/* Options of a question in addition to the document. A structure of zeros with its size equals NULL. */
struct kiln_select_options {
  size_t size;      /* sizeof(struct kiln_select_options) */
  const char* host; /* a description (JSON, as `kiln host` prints it), "here", "any", or the name of a target
                       ("zen4,nvidia:sm_90"). NULL: the document's, else this machine */
  const char* format; /* tag, digest, oci or sif. NULL: the document's, else tag */
  int64_t snapshot;   /* 0: the current one */
  uint32_t flags;     /* of kiln_select_flags */
  uint32_t limit;     /* at most so many other images of a kind in an answer. 0: 20 */
};

/* Options of a job in addition to the document. A structure of zeros with its size equals NULL. */
struct kiln_job_options {
  size_t size;      /* sizeof(struct kiln_job_options) */
  const char* host; /* as in kiln_select_options. NULL: a node of the infrastructure, else as there */
  const char* infrastructure; /* its name in the index, or its JSON. NULL: target.name of the document */
  const char* scheduler; /* slurm, torque, openpbs or bash, if neither document nor infrastructure names one.
                            NULL: bash */
  const char* runtime;   /* apptainer, singularity, charliecloud, sarus, shifter, podman or enroot. NULL: the
                            infrastructure's, else singularity */
  int64_t snapshot;      /* 0: the current one */
  uint32_t flags;        /* of kiln_select_flags */
};

#define KILN_API __attribute__((visibility("default")))

/* KILN_REGISTRY_ABI of the loaded library, and its version, "0.1.0". */
KILN_API unsigned kiln_registry_abi(void);
KILN_API const char* kiln_registry_version(void);

/* Opens the state folder `state`, in which `kiln publish` has made or will make an index. The library locks
 * nothing in it, and writes only the counters of `kiln index demand`, if it may. `options` may be NULL. On
 * failure *registry is NULL. */
KILN_API int kiln_registry_open(const char* state, const struct kiln_open_options* options,
                                kiln_registry** registry, char** error);
/* Closes it. Call this when no other thread asks any more. NULL: does nothing. */
KILN_API void kiln_registry_close(kiln_registry* registry);

/* Asks one question: `dsl` is a document of the optimisation DSL, `length` bytes of JSON. *answer is the
 * output of `kiln select --json`, also if no image matches (KILN_NO_MATCH). A call uses the current snapshot
 * automatically. */
KILN_API int kiln_registry_select(kiln_registry* registry, const char* dsl, size_t length,
                                  const struct kiln_select_options* options, char** answer, char** error);
/* Asks the same question, and returns only the reference, as `kiln select` prints it: many times as fast. */
KILN_API int kiln_registry_reference(kiln_registry* registry, const char* dsl, size_t length,
                                     const struct kiln_select_options* options, char** reference,
                                     char** error);
/* Asks the same question, and returns the reasons for people, as `kiln select --explain` prints them. */
KILN_API int kiln_registry_explain(kiln_registry* registry, const char* dsl, size_t length,
                                   const struct kiln_select_options* options, char** text, char** error);

/* Writes the job script of a document, with its best image: *answer is the output of `kiln job --json`, with
 * the text of the script in `job_script`. Enforcement scripts and scaling models are those of the index.
 * Since interface 2. */
KILN_API int kiln_registry_job(kiln_registry* registry, const char* dsl, size_t length,
                               const struct kiln_job_options* options, char** answer, char** error);

/* Returns the number of the current snapshot; 0 before the first publication. */
KILN_API int kiln_registry_snapshot(kiln_registry* registry, int64_t* number, char** error);
/* Returns JSON, as `kiln index snapshots --format json` prints it. */
KILN_API int kiln_registry_snapshots(kiln_registry* registry, char** snapshots, char** error);
/* Returns the images of a snapshot (0: the current one), as `kiln index list --format json` prints them. */
KILN_API int kiln_registry_images(kiln_registry* registry, int64_t snapshot, char** images, char** error);

/* Frees a text that a call returned in a `char **`; do not use free(). NULL: does nothing. *error is "error:
 * message; hint", or NULL without an error. Pass NULL for a `char **` that you do not need. */
KILN_API void kiln_registry_free(char* text);

#ifdef __cplusplus
}
#endif

#endif
