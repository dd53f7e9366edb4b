// Names for clang's thread-safety attributes; other compilers see nothing.
#pragma once

#if defined(__clang__)
#define STOKER_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define STOKER_THREAD_ATTRIBUTE(x)
#endif

#define STOKER_CAPABILITY(name) STOKER_THREAD_ATTRIBUTE(capability(name))
#define STOKER_SCOPED_CAPABILITY STOKER_THREAD_ATTRIBUTE(scoped_lockable)
#define STOKER_GUARDED_BY(mutex) STOKER_THREAD_ATTRIBUTE(guarded_by(mutex))
#define STOKER_REQUIRES(...) STOKER_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define STOKER_ACQUIRE(...) STOKER_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define STOKER_RELEASE(...) STOKER_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define STOKER_EXCLUDES(...) STOKER_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define STOKER_NO_THREAD_CHECK STOKER_THREAD_ATTRIBUTE(no_thread_safety_analysis)
