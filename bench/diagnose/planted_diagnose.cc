// Runs the same diagnosis as `stoker diagnose` on a feed, consumer and machine with planted causes.
//
//     planted_diagnose PLAN.json
//
// Prints the diagnosis as one JSON object.
#include <fmt/format.h>

#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/diagnose/plan.h"
#include "bench/diagnose/planted_consumer.h"
#include "bench/diagnose/planted_device.h"
#include "bench/diagnose/planted_io.h"
#include "bench/diagnose/planted_source.h"
#include "stoker/base/bytes.h"
#include "stoker/config/field_table.h"

namespace stoker::bench {
namespace {

constexpr int kDevice = 0;

config::Settings settings_of(const Plan& plan) {
  config::Settings settings;
  for (const std::string& each : plan.settings) {
    const std::size_t equals = each.find('=');
    const std::string path = each.substr(0, equals);
    const config::FieldInfo* field = config::find_field(path);
    if (field == nullptr) throw std::invalid_argument("no such setting: " + path);
    field->read(settings, config::parse_value(each.substr(equals + 1), path));
  }
  return settings;
}

Json run(const Plan& plan) {
  PlantedIo io(plan.storage);
  observe::DiagnoseOptions options;
  options.settings = settings_of(plan);
  options.io = &io;
  options.budget_s = plan.budget_s;
  options.applies = plan.applies;
  // A trial that does not end shows how far it came.
  options.say = [](std::string_view line) { fmt::print(stderr, "{}\n", line); };
  if (plan.step_ms) options.step_s = 1e-3 * *plan.step_ms;
  observe::MachineSources sources{.data_path = options.settings.data.path};
  if (plan.device) sources.gauge = observe::open_gpu_gauge(kDevice);
  PlantedWatch watch(plan.machine, std::move(sources));
  options.machine = &watch;
  std::optional<PlantedConsumer> consumer;
  if (plan.consumer) options.consumer = &consumer.emplace(*plan.consumer, options.step_s.value());
  std::optional<PlantedDeviceConsumer> device;
  std::vector<std::unique_ptr<BusyBus>> others_on_bus;
  if (plan.device) {
    options.consumer = &device.emplace(*plan.device, kDevice, options.step_s.value());
    for (std::uint64_t i = 0; i < plan.device->num_on_bus; ++i)
      others_on_bus.push_back(std::make_unique<BusyBus>(kDevice));
  }
  options.wrap = [&](std::shared_ptr<const feed::UtteranceSource> source) {
    io.begin();
    return plan.stage.stage.empty() ? source : plant_stage(std::move(source), plan.stage);
  };
  const observe::DiagnoseReport report = observe::diagnose(options);
  Json json = observe::diagnosis_json(report.diagnosis);
  if (report.evidence.watch.machine) json["machine"] = report.evidence.watch.machine->json();
  return json;
}

int run_file(const std::string& path) {
  const File file = open_file(system_io(), path, OpenFor::kRead).take_or_raise();
  const std::vector<std::byte> bytes = read_whole(file, 1U << 20U).take_or_raise();
  const std::optional<Json> json = Json::parse(view_text(bytes));
  if (!json) throw std::invalid_argument(path + " is not JSON");
  fmt::print("{}\n", run(plan_of(*json)).dump());
  return 0;
}

}  // namespace
}  // namespace stoker::bench

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "planted_diagnose PLAN.json\n");
    return 2;
  }
  try {
    return stoker::bench::run_file(argv[1]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
