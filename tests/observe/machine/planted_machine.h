// A machine made of planted files: what the kernel would tell, changed between two samples.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "stoker/observe/machine/machine_sampler.h"
#include "tests/doubles/fake_clock.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker::observe {

// Four cores of which the process may use two; every file is there and nothing has happened.
class PlantedMachine {
 public:
  PlantedMachine() {
    put("proc/self/status", "Name:\tstoker\nCpus_allowed_list:\t1-2\n");
    put("proc/self/cgroup", "0::/job\n");
    put("proc/stat", stat_text(0, 0));
    put("proc/self/stat", own_text(0, 0, 0));
    put("proc/meminfo", "MemTotal: 1000 kB\nMemFree: 10 kB\nMemAvailable: 800 kB\n");
    put("proc/vmstat", "pswpin 0\npswpout 0\n");
    put("proc/self/io", "rchar: 0\nread_bytes: 0\n");
    for (const char* name : {"cpu", "memory", "io"}) put_pressure(name, 0);
  }

  void put(const std::string& name, const std::string& text) const { root.put(name, text); }
  void put_pressure(const std::string& name, int total_us) const {
    put("proc/pressure/" + name, "some avg10=0.00 avg60=0.00 avg300=0.00 total=" +
                                     std::to_string(total_us) + "\nfull total=9\n");
  }
  void put_thread(int id, const std::string& name, int cpu_ns, int wait_ns) const {
    const std::string folder = "proc/self/task/" + std::to_string(id);
    put(folder + "/comm", name + "\n");
    put(folder + "/schedstat", std::to_string(cpu_ns) + " " + std::to_string(wait_ns) + " 7\n");
  }
  // Each core was busy and robbed so many ticks; the rest of ten seconds it was idle.
  static std::string stat_text(int busy, int steal, int passed = 0) {
    const std::string numbers = " " + std::to_string(busy) + " 0 0 " +
                                std::to_string(1000 + passed - busy - steal) + " 0 0 0 " +
                                std::to_string(steal) + " 0 0\n";
    std::string text = "cpu " + numbers;
    for (int core = 0; core < 4; ++core) text += "cpu" + std::to_string(core) + numbers;
    return text + "intr 5 6 7\n";
  }
  static std::string own_text(int minor, int major, int ticks) {
    return "12 (a) b) S 1 1 1 0 -1 0 " + std::to_string(minor) + " 0 " + std::to_string(major) +
           " 0 " + std::to_string(ticks) + " 0 0 0\n";
  }

  // Begins to watch, plants what `change` does, and gives the two seconds in between.
  template <class Change>
  MachineWindow over(const Change& change) {
    start();
    const std::chrono::nanoseconds from = sampler->mark();
    clock.advance(std::chrono::seconds(2));
    change();
    return sampler->window(from, sampler->mark());
  }
  // The thread's own sample is the first; afterwards it waits for an hour.
  void start() {
    sources.root = root.path();
    sampler = std::make_unique<MachineSampler>(
        std::move(sources),
        MachineSamplerOptions{.every = std::chrono::hours(1), .keep = keep, .clock = &clock});
    while (sampler->window(clock.now(), clock.now()).num_samples == 0) std::this_thread::yield();
  }

  ScratchFolder root;
  FakeClock clock;
  MachineSources sources;
  std::chrono::nanoseconds keep = std::chrono::minutes(10);
  std::unique_ptr<MachineSampler> sampler;
};

}  // namespace stoker::observe
