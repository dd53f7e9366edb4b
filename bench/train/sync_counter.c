// Counts the calls by which a program's threads wait for a GPU, as the driver sees them, whoever makes them: our code,
// libtorch or the CUDA runtime. bench/train/host_syncs.py builds it and has the driver load it (CUDA_INJECTION64_PATH).
//
// Counting begins with the call that is number SYNC_COUNTER_FROM among the graph launches and ends with number
// SYNC_COUNTER_TO: between them a training replays steps and does nothing else. At the end of the process one line of
// JSON goes to SYNC_COUNTER_OUT: launches, waits outside (before and behind, where there must be some, or nothing is
// counted at all) and, for each thread, its name and how often it called what.
#define _GNU_SOURCE
#include <cupti.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kMostKinds = 1024, kMostThreads = 256 };

static struct {
  long thread;
  char name[16];
  atomic_long calls[kMostKinds];
} threads[kMostThreads];
static atomic_int num_threads;
static atomic_long num_launches, num_outside;
static long first_launch, last_launch;
static __thread int own = -1;

static int is_wait(const char* name) {
  if (strstr(name, "Async") != NULL) return 0;
  return strstr(name, "Synchronize") != NULL || strncmp(name, "cuMemcpy", 8) == 0;
}

static int is_counting(void) {
  const long now = atomic_load(&num_launches);
  return now >= first_launch && now < last_launch;
}

static void CUPTIAPI see(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  (void)user;
  const CUpti_CallbackData* const call = data;
  if (domain != CUPTI_CB_DOMAIN_DRIVER_API || call->callbackSite != CUPTI_API_ENTER || id >= kMostKinds) return;
  if (strncmp(call->functionName, "cuGraphLaunch", 13) == 0) atomic_fetch_add(&num_launches, 1);
  if (!is_wait(call->functionName)) return;
  if (!is_counting()) {
    atomic_fetch_add(&num_outside, 1);
    return;
  }
  if (own < 0) {
    own = atomic_fetch_add(&num_threads, 1) % kMostThreads;
    threads[own].thread = syscall(SYS_gettid);
    pthread_getname_np(pthread_self(), threads[own].name, sizeof threads[own].name);
  }
  atomic_fetch_add(&threads[own].calls[id], 1);
}

static void put_thread(FILE* out, int index) {
  fprintf(out, "%s{\"thread\": \"%s\", \"is_main\": %s, \"calls\": {", index == 0 ? "" : ", ", threads[index].name,
          threads[index].thread == (long)getpid() ? "true" : "false");
  int is_first = 1;
  for (CUpti_CallbackId id = 0; id < kMostKinds; ++id) {
    const long count = atomic_load(&threads[index].calls[id]);
    const char* name = NULL;
    if (count == 0 || cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) != CUPTI_SUCCESS) continue;
    fprintf(out, "%s\"%s\": %ld", is_first ? "" : ", ", name, count);
    is_first = 0;
  }
  fprintf(out, "}}");
}

static void write_counts(void) {
  const char* const path = getenv("SYNC_COUNTER_OUT");
  FILE* const out = path == NULL ? NULL : fopen(path, "w");
  if (out == NULL) return;
  const long now = atomic_load(&num_launches);
  fprintf(out, "{\"launches\": %ld, \"waits_outside\": %ld, \"threads\": [",
          (now < last_launch ? now : last_launch) - first_launch, atomic_load(&num_outside));
  for (int i = 0; i < atomic_load(&num_threads) && i < kMostThreads; ++i) put_thread(out, i);
  fprintf(out, "]}\n");
  fclose(out);
}

static long number_of(const char* name, long otherwise) {
  const char* const text = getenv(name);
  return text == NULL ? otherwise : atol(text);
}

int InitializeInjection(void) {
  static CUpti_SubscriberHandle subscriber;
  first_launch = number_of("SYNC_COUNTER_FROM", 0);
  last_launch = number_of("SYNC_COUNTER_TO", 1L << 60);
  if (cuptiSubscribe(&subscriber, see, NULL) != CUPTI_SUCCESS) return 0;
  if (cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API) != CUPTI_SUCCESS) return 0;
  atexit(write_counts);
  return 1;
}
