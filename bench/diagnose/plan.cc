#include "bench/diagnose/plan.h"

namespace stoker::bench {
namespace {

double number(const Json& json, std::string_view key, double otherwise) {
  return json.contains(key) ? json.at(key).number() : otherwise;
}

std::optional<double> known_number(const Json& json, std::string_view key) {
  return json.contains(key) ? std::optional(json.at(key).number()) : std::nullopt;
}

std::string text(const Json& json, std::string_view key) {
  return json.contains(key) ? json.at(key).text() : std::string();
}

Json part(const Json& json, std::string_view key) {
  return json.contains(key) ? json.at(key) : Json::object();
}

StoragePlan storage_of(const Json& json) {
  return {.open_ms = number(json, "open_ms", 0),
          .read_ms = number(json, "read_ms", 0),
          .mb_per_s = number(json, "mb_per_s", 0),
          .only_first = number(json, "only_first", 0),
          .only = text(json, "only")};
}

StagePlan stage_of(const Json& json) {
  return {.stage = text(json, "stage"),
          .cpu_ms = number(json, "cpu_ms", 0),
          .wait_ms = number(json, "wait_ms", 0),
          .is_serial = number(json, "is_serial", 0) != 0,
          .chance = number(json, "chance", 1),
          .only = text(json, "only")};
}

ConsumerPlan consumer_of(const Json& json) {
  return {.step_factor = number(json, "step_factor", 1),
          .work = text(json, "work"),
          .every = static_cast<std::uint64_t>(number(json, "every", 1)),
          .work_ms = number(json, "work_ms", 0),
          .is_busy = number(json, "is_busy", 0) != 0,
          .num_held = static_cast<std::uint64_t>(number(json, "num_held", 0))};
}

DevicePlan device_of(const Json& json) {
  return {.num_tiny = static_cast<std::uint64_t>(number(json, "num_tiny", 0)),
          .pause_ms = number(json, "pause_ms", 0),
          .num_on_bus = static_cast<std::uint64_t>(number(json, "num_on_bus", 0))};
}

}  // namespace

Plan plan_of(const Json& json) {
  Plan plan{.step_ms = known_number(json, "step_ms"),
            .budget_s = number(json, "budget_s", 5),
            .applies = number(json, "applies", 0) != 0,
            .storage = storage_of(part(json, "storage")),
            .stage = stage_of(part(json, "stage"))};
  for (const Json& each : json.at("settings").elements()) plan.settings.push_back(each.text());
  if (json.contains("consumer")) plan.consumer = consumer_of(json.at("consumer"));
  if (json.contains("device")) plan.device = device_of(json.at("device"));
  const Json machine = part(json, "machine");
  plan.machine = {.storage_kind = text(machine, "storage_kind"),
                  .gpu_clock_share = known_number(machine, "gpu_clock_share"),
                  .swap_in_pages_per_s = known_number(machine, "swap_in_pages_per_s"),
                  .memory_pressure = known_number(machine, "memory_pressure"),
                  .other_cores = known_number(machine, "other_cores")};
  return plan;
}

}  // namespace stoker::bench
