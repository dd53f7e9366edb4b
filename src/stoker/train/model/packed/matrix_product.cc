#include "stoker/train/model/packed/matrix_product.h"

#include <dlfcn.h>

#include <array>
#include <compare>
#include <map>
#include <memory>
#include <string>

#include "stoker/base/thread/sync.h"
#include "stoker/train/errors.h"

namespace stoker::train {
namespace {

// The part of cuBLASLt's interface that is used, as its manual gives it (versions 12 and 13).
using Opaque = void*;
struct Algorithm {
  std::array<std::uint64_t, 8> words{};
};
struct Suggestion {
  Algorithm algorithm{};
  std::size_t workspace_bytes = 0;
  int state = 0;
  float waves = 0;
  std::array<int, 4> reserved{};
};
constexpr int kComputeF32 = 68;
constexpr int kRealF32 = 0;
constexpr int kRealF16 = 2;
constexpr int kRealBf16 = 14;
constexpr std::int32_t kTurn = 1;
enum DescriptionKey {
  kTurnA = 3,
  kTurnB = 4,
  kEpilogue = 7,
  kBiasPointer = 8,
  kBeforePointer = 11,
  kBeforeStride = 12,
  kBeforeType = 22,
  kBiasType = 26
};
enum PreferenceKey { kWorkspace = 1, kReductions = 3 };
// Split sums are added in a pass of their own; in place they would come in any order.
constexpr std::uint32_t kOrderedReductions = 2 | 4;

std::uint32_t code_of(Epilogue epilogue) {
  switch (epilogue) {
    case Epilogue::kNone:
      return 1;
    case Epilogue::kBias:
      return 4;
    case Epilogue::kBiasGelu:
      return 4 | 32 | 128;
  }
  return 1;
}

int code_of(MatrixType type) {
  switch (type) {
    case MatrixType::kF32:
      return kRealF32;
    case MatrixType::kBf16:
      return kRealBf16;
    case MatrixType::kF16:
      return kRealF16;
  }
  return kRealF32;
}

[[noreturn]] void refuse(const std::string& found) {
  raise({.code = &kTrainFailed, .promised = "a product by cuBLASLt", .found = found});
}

void check(int status, const char* call) {
  if (status != 0) refuse(std::string(call) + " answered " + std::to_string(status));
}

struct Library {
  int (*create)(Opaque*) = nullptr;
  int (*describe)(Opaque*, int compute, int scale) = nullptr;
  int (*set_description)(Opaque, int key, const void*, std::size_t) = nullptr;
  int (*forget_description)(Opaque) = nullptr;
  int (*lay_out)(Opaque*, int type, std::uint64_t rows, std::uint64_t columns,
                 std::int64_t stride) = nullptr;
  int (*forget_layout)(Opaque) = nullptr;
  int (*prefer)(Opaque*) = nullptr;
  int (*set_preference)(Opaque, int key, const void*, std::size_t) = nullptr;
  int (*forget_preference)(Opaque) = nullptr;
  int (*suggest)(Opaque, Opaque, Opaque, Opaque, Opaque, Opaque, Opaque, int, Suggestion*,
                 int*) = nullptr;
  int (*multiply)(Opaque, Opaque, const void*, const void*, Opaque, const void*, Opaque,
                  const void*, const void*, Opaque, void*, Opaque, const Algorithm*, void*,
                  std::size_t, cuda::StreamHandle) = nullptr;
};

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) refuse(std::string(name) + " is not in the library");
}

// The copy that libtorch has loaded, if there is one.
void* open_library() {
  for (const int flags : {RTLD_NOW | RTLD_NOLOAD, RTLD_NOW}) {
    for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"}) {
      if (void* const found = dlopen(name, flags)) return found;
    }
  }
  refuse("libcublasLt.so is not there");
}

Library find_library() {
  void* const opened = open_library();
  Library library;
  find(opened, "cublasLtCreate", library.create);
  find(opened, "cublasLtMatmulDescCreate", library.describe);
  find(opened, "cublasLtMatmulDescSetAttribute", library.set_description);
  find(opened, "cublasLtMatmulDescDestroy", library.forget_description);
  find(opened, "cublasLtMatrixLayoutCreate", library.lay_out);
  find(opened, "cublasLtMatrixLayoutDestroy", library.forget_layout);
  find(opened, "cublasLtMatmulPreferenceCreate", library.prefer);
  find(opened, "cublasLtMatmulPreferenceSetAttribute", library.set_preference);
  find(opened, "cublasLtMatmulPreferenceDestroy", library.forget_preference);
  find(opened, "cublasLtMatmulAlgoGetHeuristic", library.suggest);
  find(opened, "cublasLtMatmul", library.multiply);
  return library;
}

class Handle {
 public:
  using Forget = int (*)(Opaque);
  Handle(Opaque given, Forget forget) : handle_(given, forget) {}
  Opaque get() const { return handle_.get(); }

 private:
  std::unique_ptr<void, Forget> handle_;
};

// What the choice of a kernel depends on.
struct PlanKey {
  std::int64_t rows, columns, inner;
  bool is_left_turned, is_right_turned, is_added;
  MatrixType type, out_type;
  Epilogue epilogue;

  auto operator<=>(const PlanKey&) const = default;
};

// The library counts columns first: row by row its matrices are turned, and out' = right' · left'.
class Products {
 public:
  Products() : library_(find_library()) { check(library_.create(&context_), "cublasLtCreate"); }

  void run(const MatrixProduct& product, cuda::StreamView on) {
    const PlanKey key = key_of(product);
    const Handle description = describe(product, key);
    const Handle right = lay_out(product.type, product.right);
    const Handle left = lay_out(product.type, product.left);
    const Handle out = lay_out(product.out_type, {product.out, key.rows, key.columns, false});
    const std::array<Opaque, 4> matrices{right.get(), left.get(), out.get(), out.get()};
    const Algorithm algorithm = algorithm_for(key, description.get(), matrices);
    const float one = 1;
    const float kept = product.is_added ? 1 : 0;
    check(library_.multiply(context_, description.get(), &one, product.right.data, matrices[0],
                            product.left.data, matrices[1], &kept, product.out, matrices[2],
                            product.out, matrices[3], &algorithm, product.workspace,
                            kProductWorkspaceBytes, on.handle()),
          "cublasLtMatmul");
  }

 private:
  static PlanKey key_of(const MatrixProduct& product) {
    const MatrixView& left = product.left;
    const MatrixView& right = product.right;
    return {.rows = left.is_turned ? left.num_columns : left.num_rows,
            .columns = right.is_turned ? right.num_rows : right.num_columns,
            .inner = left.is_turned ? left.num_rows : left.num_columns,
            .is_left_turned = left.is_turned,
            .is_right_turned = right.is_turned,
            .is_added = product.is_added,
            .type = product.type,
            .out_type = product.out_type,
            .epilogue = product.epilogue};
  }

  Handle lay_out(MatrixType type, const MatrixView& matrix) const {
    Opaque made = nullptr;
    check(library_.lay_out(&made, code_of(type), static_cast<std::uint64_t>(matrix.num_columns),
                           static_cast<std::uint64_t>(matrix.num_rows), matrix.num_columns),
          "cublasLtMatrixLayoutCreate");
    return {made, library_.forget_layout};
  }

  template <class T>
  void set(Opaque description, DescriptionKey key, const T& value) const {
    check(library_.set_description(description, key, &value, sizeof(value)),
          "cublasLtMatmulDescSetAttribute");
  }

  Handle describe(const MatrixProduct& product, const PlanKey& key) const {
    Opaque made = nullptr;
    check(library_.describe(&made, kComputeF32, kRealF32), "cublasLtMatmulDescCreate");
    Handle description(made, library_.forget_description);
    if (key.is_right_turned) set(made, kTurnA, kTurn);
    if (key.is_left_turned) set(made, kTurnB, kTurn);
    set(made, kEpilogue, code_of(key.epilogue));
    if (product.bias != nullptr) {
      set(made, kBiasPointer, product.bias);
      set(made, kBiasType, static_cast<std::int32_t>(code_of(key.out_type)));
    }
    if (product.before != nullptr) {
      set(made, kBeforePointer, product.before);
      set(made, kBeforeStride, key.columns);
      set(made, kBeforeType, static_cast<std::int32_t>(code_of(key.type)));
    }
    return description;
  }

  Algorithm algorithm_for(const PlanKey& key, Opaque description,
                          const std::array<Opaque, 4>& matrices) {
    const Lock lock(mutex_);
    const auto found = plans_.find(key);
    if (found != plans_.end()) return found->second;
    Opaque made = nullptr;
    check(library_.prefer(&made), "cublasLtMatmulPreferenceCreate");
    const Handle preference(made, library_.forget_preference);
    check(library_.set_preference(made, kWorkspace, &kProductWorkspaceBytes,
                                  sizeof(kProductWorkspaceBytes)),
          "cublasLtMatmulPreferenceSetAttribute");
    check(
        library_.set_preference(made, kReductions, &kOrderedReductions, sizeof(kOrderedReductions)),
        "cublasLtMatmulPreferenceSetAttribute");
    Suggestion suggestion;
    int count = 0;
    check(library_.suggest(context_, description, matrices[0], matrices[1], matrices[2],
                           matrices[3], made, 1, &suggestion, &count),
          "cublasLtMatmulAlgoGetHeuristic");
    if (count == 0) refuse("no kernel for it");
    return plans_.emplace(key, suggestion.algorithm).first->second;
  }

  Library library_;
  Opaque context_ = nullptr;  // stays: the library may be gone before statics are
  Mutex mutex_;
  std::map<PlanKey, Algorithm> plans_;
};

}  // namespace

void multiply(const MatrixProduct& product, cuda::StreamView on) {
  static Products products;
  products.run(product, on);
}

}  // namespace stoker::train
