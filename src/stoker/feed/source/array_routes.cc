#include "stoker/feed/source/array_routes.h"

#include <algorithm>
#include <utility>

#include "stoker/cache/errors.h"
#include "stoker/feed/errors.h"

namespace stoker::feed {
namespace {

// The maker of the array's records; null where the settings name no folder for it.
const cache::ArrayMaker* find_maker(const cache::BuildTarget& target, std::string_view array) {
  for (const cache::RecordMaker* maker : target.makers) {
    if (maker->kind() == cache::RecordKind::kArray && maker->array() == array)
      return dynamic_cast<const cache::ArrayMaker*>(maker);
  }
  return nullptr;
}

// Without the folder nobody can tell whether the records are still what the files hold.
void take_unchecked(const ArrayRequest& request, const std::string& name, ArrayRoute& route) {
  const cache::SortedRows& rows = request.target.rows();
  for (std::size_t place = 0; place < rows.size() && request.reader != nullptr; ++place) {
    route.rows[rows.index_row(place)].record =
        request.reader->find(cache::RecordKind::kArray, rows[place].id, name);
  }
  const bool has_any = std::any_of(route.rows.begin(), route.rows.end(),
                                   [](const ArrayRow& row) { return row.record.has_value(); });
  if (!has_any) return;
  const Error error{.code = &kFeedArrays,
                    .promised = "a folder for \"" + name + "\" in cache.arrays",
                    .found = "none, so its records cannot be compared with their files"};
  if (!request.fallbacks.are_allowed()) raise(Error(error));
  request.fallbacks.take({"checked array", "unchecked array", std::string(error.code->name)},
                         error_line(error));
}

void find_sources(const ArrayRequest& request, ArrayRoute& route) {
  for (std::size_t at = 0; at < route.maker->num_rows(); ++at) {
    const auto row = find_row(request.target.rows(), route.maker->id(at));
    if (row) route.sources[*row] = static_cast<std::uint32_t>(at);
  }
}

// Takes the kind from the first row that has a shape and compares the others with it.
class KindOfRows {
 public:
  KindOfRows(const ArrayRequest& request, const ArrayRoute& route)
      : request_(request), route_(route) {}

  ArrayKind find(const std::string& name) {
    ArrayKind kind;
    kind.name = name;
    for (std::size_t row = 0; row < route_.rows.size(); ++row) {
      const std::optional<cache::ArrayShape> shape = shape_of(row);
      if (!shape) continue;
      if (!first_) first_ = {row, *shape};
      if (!cache::is_same_kind(first_->shape, *shape)) {
        raise(cache::mixed_arrays(place_of(first_->row), first_->shape, place_of(row), *shape));
      }
      kind.max_length = std::max(kind.max_length, shape->axes[0]);
    }
    if (!first_) return kind;
    kind.element = first_->shape.element;
    for (std::size_t axis = 1; axis < first_->shape.rank; ++axis) {
      kind.values_per_step *= first_->shape.axes[axis];
    }
    return kind;
  }

 private:
  struct First {
    std::size_t row;
    cache::ArrayShape shape;
  };

  std::optional<cache::ArrayShape> shape_of(std::size_t row) const {
    if (const auto& record = route_.rows[row].record) return request_.reader->info(*record).shape;
    const std::uint32_t source = route_.sources[row];
    return source == ArrayRoute::kNoSource ? std::nullopt : route_.maker->header(source).shape;
  }

  std::string place_of(std::size_t row) const {
    const std::uint32_t source = route_.sources[row];
    if (source != ArrayRoute::kNoSource) return route_.maker->path(source);
    return "the record of " + std::string(request_.target.rows().index()[row].id);
  }

  const ArrayRequest& request_;
  const ArrayRoute& route_;
  std::optional<First> first_;
};

ArrayRoute find_route(const ArrayRequest& request, const std::string& name) {
  const std::size_t num_rows = request.target.rows().size();
  ArrayRoute route;
  route.maker = find_maker(request.target.target(), name);
  route.rows.resize(num_rows);
  route.sources.assign(num_rows, ArrayRoute::kNoSource);
  if (route.maker == nullptr) {
    take_unchecked(request, name, route);
  } else {
    find_sources(request, route);
    if (const std::vector<ArrayRow>* rows = request.routes.array_rows(name)) route.rows = *rows;
  }
  route.kind = KindOfRows(request, route).find(name);
  if (route.kind.max_length > 0) return route;
  raise({.code = &kFeedNotCached,
         .promised = "the array \"" + name + "\" of at least one row",
         .found = route.maker == nullptr ? "neither a record nor a folder of that name"
                                         : "no usable file of any row in its folder",
         .cure = "name its folder in cache.arrays; its files are called <id>.npy"});
}

}  // namespace

std::vector<ArrayRoute> find_array_routes(const ArrayRequest& request) {
  std::vector<ArrayRoute> routes;
  for (const std::string& name : request.names) routes.push_back(find_route(request, name));
  return routes;
}

std::vector<std::size_t> rows_without_record(const ArrayRoute& route) {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < route.rows.size(); ++row) {
    const bool has_source = route.sources[row] != ArrayRoute::kNoSource;
    if (has_source && !route.rows[row].record && !route.rows[row].is_left_out) rows.push_back(row);
  }
  return rows;
}

}  // namespace stoker::feed
