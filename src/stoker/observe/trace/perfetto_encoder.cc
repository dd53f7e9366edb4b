// Perfetto's own format: a file is a row of packets, each of which is whole by itself.
#include <array>
#include <cstddef>
#include <map>
#include <utility>

#include "stoker/observe/trace/protobuf_writer.h"
#include "stoker/observe/trace/trace_encoder.h"

namespace stoker::observe {
namespace {

// Field numbers of perfetto/trace/perfetto_trace.proto.
namespace trace {
constexpr std::uint32_t kPacket = 1;
}
namespace packet {
constexpr std::uint32_t kClockSnapshot = 6, kTimestamp = 8, kSequence = 10, kTrackEvent = 11,
                        kInterned = 12, kSequenceFlags = 13, kClockId = 58, kDefaults = 59,
                        kTrackDescriptor = 60;
}
namespace event {
constexpr std::uint32_t kArguments = 4, kType = 9, kNameId = 10, kTrack = 11, kFlows = 47,
                        kLastFlows = 48, kReal = 44;
}
namespace descriptor {
constexpr std::uint32_t kUuid = 1, kName = 2, kProcess = 3, kParent = 5, kCounter = 8,
                        kChildOrder = 11, kRank = 12;
}
namespace argument {
constexpr std::uint32_t kNameId = 1, kSigned = 4, kReal = 5, kText = 6;
}

constexpr std::uint64_t kSequenceId = 1;
constexpr std::uint64_t kClearedState = 1, kNeedsState = 2;
constexpr std::uint64_t kMonotonic = 3, kRealtime = 1;
constexpr std::uint64_t kProcessTrack = 1;  // other tracks follow it
constexpr std::uint64_t kByRank = 3;
enum EventType : std::uint64_t { kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4 };

// Names are written once and then meant by number.
class Names {
 public:
  explicit Names(std::uint32_t field) : field_(field) {}
  std::uint64_t number(std::string_view name, ProtobufWriter& interned) {
    Seen& seen = seen_[reinterpret_cast<std::uintptr_t>(name.data()) / 8 % seen_.size()];
    if (seen.name.data() == name.data() && seen.name == name) return seen.number;
    const auto found = numbers_.find(name);
    const std::uint64_t number = found != numbers_.end() ? found->second : numbers_.size() + 1;
    seen = {name, number};
    if (found != numbers_.end()) return number;
    numbers_.emplace(name, number);
    ProtobufWriter entry;
    entry.number(1, number);
    entry.text(2, name);
    interned.message(field_, entry);
    return number;
  }

 private:
  // Names are static: most are found by where they are.
  struct Seen {
    std::string_view name{};
    std::uint64_t number = 0;
  };

  std::uint32_t field_;
  std::array<Seen, 128> seen_{};
  std::map<std::string, std::uint64_t, std::less<>> numbers_;
};

class PerfettoEncoder final : public TraceEncoder {
 public:
  void head(const TraceHead& head) override {
    ProtobufWriter defaults, packet;
    defaults.number(packet::kClockId, kMonotonic);
    packet.message(packet::kClockSnapshot, clocks(head));
    packet.message(packet::kDefaults, defaults);
    packet.number(packet::kSequence, kSequenceId);
    packet.number(packet::kSequenceFlags, kClearedState);
    put(packet);
    ProtobufWriter process, track;
    process.signed_number(1, head.pid);
    process.text(6, "stoker");
    track.number(descriptor::kUuid, kProcessTrack);
    track.message(descriptor::kProcess, process);
    track.number(descriptor::kChildOrder, kByRank);
    put_descriptor(track);
  }

  void track(const TraceTrack& track) override {
    ProtobufWriter out;
    out.number(descriptor::kUuid, uuid(track.id));
    out.text(descriptor::kName, track.name);
    out.number(descriptor::kParent, kProcessTrack);
    out.number(descriptor::kRank, track.id);
    if (track.kind == TrackKind::kCounter) out.message(descriptor::kCounter, {});
    put_descriptor(out);
  }

  void open(const TraceSlice& slice) override {
    start(slice.track, kBegin);
    describe(slice);
    put_event(slice.begin_ns);
  }
  void close(const TraceSlice& slice) override {
    start(slice.track, kEnd);
    put_event(slice.end_ns);
  }
  void instant(const TraceSlice& moment) override {
    start(moment.track, kInstant);
    describe(moment);
    put_event(moment.begin_ns);
  }
  void counter(std::uint32_t track, std::int64_t at_ns, double value) override {
    start(track, kCounter);
    event_.real(event::kReal, value);
    put_event(at_ns);
  }

 private:
  static std::uint64_t uuid(std::uint32_t track) { return kProcessTrack + track; }

  static ProtobufWriter clocks(const TraceHead& head) {
    ProtobufWriter snapshot;
    for (const auto& [id, at_ns] :
         {std::pair(kMonotonic, head.begin_ns), std::pair(kRealtime, head.begin_unix_ns)}) {
      ProtobufWriter clock;
      clock.number(1, id);
      clock.signed_number(2, at_ns);
      snapshot.message(1, clock);
    }
    snapshot.number(2, kMonotonic);  // the trace's own clock
    return snapshot;
  }

  void start(std::uint32_t track, EventType type) {
    event_.clear();
    interned_.clear();
    event_.number(event::kType, type);
    event_.number(event::kTrack, uuid(track));
  }
  void describe(const TraceSlice& slice) {
    event_.number(event::kNameId, event_names_.number(slice.name, interned_));
    if (slice.part != FlowPart::kNone)
      event_.fixed64(slice.part == FlowPart::kEnd ? event::kLastFlows : event::kFlows, slice.flow);
    for (const TraceArgument& each : slice.arguments) {
      inner_.clear();
      inner_.number(argument::kNameId, argument_names_.number(each.name, interned_));
      if (const auto* whole = std::get_if<std::int64_t>(&each.value))
        inner_.signed_number(argument::kSigned, *whole);
      else if (const auto* real = std::get_if<double>(&each.value))
        inner_.real(argument::kReal, *real);
      else
        inner_.text(argument::kText, std::get<std::string_view>(each.value));
      event_.message(event::kArguments, inner_);
    }
  }
  void put_event(std::int64_t at_ns) {
    packet_.clear();
    packet_.signed_number(packet::kTimestamp, at_ns);
    packet_.number(packet::kSequence, kSequenceId);
    packet_.number(packet::kSequenceFlags, kNeedsState);
    if (!interned_.bytes().empty()) packet_.message(packet::kInterned, interned_);
    packet_.head(packet::kTrackEvent, event_.bytes().size());
    outer_.clear();
    outer_.head(trace::kPacket, packet_.bytes().size() + event_.bytes().size());
    text_ += outer_.bytes();
    text_ += packet_.bytes();
    text_ += event_.bytes();
  }
  void put_descriptor(const ProtobufWriter& track) {
    ProtobufWriter packet;
    packet.number(packet::kSequence, kSequenceId);
    packet.message(packet::kTrackDescriptor, track);
    put(packet);
  }
  void put(const ProtobufWriter& packet) {
    outer_.clear();
    outer_.message(trace::kPacket, packet);
    text_ += outer_.bytes();
  }

  Names event_names_{2}, argument_names_{3};
  ProtobufWriter event_, inner_, interned_, packet_, outer_;
};

}  // namespace

std::unique_ptr<TraceEncoder> make_perfetto_encoder() {
  return std::make_unique<PerfettoEncoder>();
}

}  // namespace stoker::observe
