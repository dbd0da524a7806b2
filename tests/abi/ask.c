/* ask STATE: questions by the C interface. On stdin, each with a NUL behind it: flags as a number, host,
 * document; on stdout: status, answer, error, each with a NUL behind it. */
#include <kiln_registry.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* The next text of stdin, 0 at its end. */
static int next(char** text, size_t* room, size_t* length) {
  ssize_t got = getdelim(text, room, '\0', stdin);
  if (got <= 0) return 0;
  *length = (size_t)got - ((*text)[got - 1] == '\0' ? 1 : 0);
  return 1;
}

static void put(const char* text) {
  if (text != NULL) fputs(text, stdout);
  putchar('\0');
}

int main(int argc, char** argv) {
  kiln_registry* registry = NULL;
  char* error = NULL;
  char* texts[3] = {NULL, NULL, NULL};
  size_t rooms[3] = {0, 0, 0};
  size_t lengths[3] = {0, 0, 0};
  if (argc != 2) return 2;
  if (kiln_registry_abi() < KILN_REGISTRY_ABI) return 70;
  int status = kiln_registry_open(argv[1], NULL, &registry, &error);
  if (status != KILN_DONE) {
    fprintf(stderr, "%s\n", error);
    return status;
  }
  while (next(&texts[0], &rooms[0], &lengths[0]) && next(&texts[1], &rooms[1], &lengths[1]) &&
         next(&texts[2], &rooms[2], &lengths[2])) {
    struct kiln_select_options options;
    char* answer = NULL;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.flags = (uint32_t)strtoul(texts[0], NULL, 10);
    options.host = texts[1];
    status = kiln_registry_select(registry, texts[2], lengths[2], &options, &answer, &error);
    printf("%d", status);
    putchar('\0');
    put(answer);
    put(error);
    fflush(stdout);
    kiln_registry_free(answer);
    kiln_registry_free(error);
  }
  kiln_registry_close(registry);
  for (int i = 0; i < 3; ++i) free(texts[i]);
  return 0;
}
