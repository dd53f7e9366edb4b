/* The C interface of libstoker_train.so: settings and requests go in as JSON, progress and results
   come out by callback, no exception crosses it. A caller looks up one symbol and compares the
   version. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised whenever a member below or the meaning of a JSON key changes. */
#define STOKER_TRAIN_DOOR_VERSION 2

/* One JSON object without a newline; from any thread, never two at once. Kinds: those of
   loop/training_run.h, and as the last one `result` (report: the keys of the command's JSON) or
   `error` (code, exit, file, line, column, byte, promised, found, action, cure, message). */
typedef void (*StokerTrainEvent)(void* user, const char* json, size_t num_bytes);

typedef struct StokerTrainCall {
  const char* request; /* JSON; not kept after the call */
  size_t request_bytes;
  StokerTrainEvent on_event;
  void* user;
  const int32_t* cancel; /* asked often; not 0: end soon and keep what is whole; may be null */
} StokerTrainCall;

/* Each returns the exit code that a command would end with. */
typedef struct StokerTrainDoor {
  uint32_t version; /* STOKER_TRAIN_DOOR_VERSION */
  const char* (*torch_version)(void);
  /* {"settings": {"data.path": …, …every setting by its path}} */
  int32_t (*train)(const StokerTrainCall* call);
  /* {"settings": …, "checkpoint": …, "texts": […], "out": […], "save_mel": […], "pictures": […],
     "references": […], "language": …, "vocabulary": …, "steps": …, "speed": …}; one file of each
     list that is not empty for every text; of references none, one for all, or one each. Seed and
     device are those of the settings. */
  int32_t (*synthesize)(const StokerTrainCall* call);
  /* {"settings": …, "loader": "naive" | "native", "seconds": …, "warmup_s": …, "mode": "feed" |
     "resident" | "both", "with_steps": …, "keep": run folder or ""} (measure/measured_run.h). */
  int32_t (*measure)(const StokerTrainCall* call);
} StokerTrainDoor;

typedef const StokerTrainDoor* (*StokerTrainOpen)(void);
#define STOKER_TRAIN_DOOR_SYMBOL "stoker_train_door"
const StokerTrainDoor* stoker_train_door(void);

#ifdef __cplusplus
}
#endif
