// Our DLPack structures have the layout of the real ones, where a dlpack.h is installed (torch
// ships one): a tensor of ours is read through theirs.
#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

#include "stoker/feed/dlpack.h"

#ifdef STOKER_HAS_DLPACK_HEADER
#include <dlpack.h>
#endif

namespace stoker::feed {
namespace {

#ifdef STOKER_HAS_DLPACK_HEADER

// Offset and size of a member of ours against that of the real one.
#define EXPECT_SAME_MEMBER(Ours, our_member, Theirs, their_member)      \
  EXPECT_EQ(offsetof(Ours, our_member), offsetof(Theirs, their_member)) \
      << #Theirs "." #their_member;                                     \
  EXPECT_EQ(sizeof(Ours::our_member), sizeof(Theirs::their_member)) << #Theirs "." #their_member

TEST(DlpackLayoutTest, DeviceAndTypeAreThoseOfTheInstalledHeader) {
  EXPECT_EQ(sizeof(DlDevice), sizeof(::DLDevice));
  EXPECT_SAME_MEMBER(DlDevice, type, ::DLDevice, device_type);
  EXPECT_SAME_MEMBER(DlDevice, index, ::DLDevice, device_id);
  EXPECT_EQ(sizeof(DlDataType), sizeof(::DLDataType));
  EXPECT_SAME_MEMBER(DlDataType, code, ::DLDataType, code);
  EXPECT_SAME_MEMBER(DlDataType, bits, ::DLDataType, bits);
  EXPECT_SAME_MEMBER(DlDataType, lanes, ::DLDataType, lanes);
}

TEST(DlpackLayoutTest, TensorsAreThoseOfTheInstalledHeader) {
  EXPECT_EQ(sizeof(DlTensor), sizeof(::DLTensor));
  EXPECT_SAME_MEMBER(DlTensor, data, ::DLTensor, data);
  EXPECT_SAME_MEMBER(DlTensor, device, ::DLTensor, device);
  EXPECT_SAME_MEMBER(DlTensor, num_axes, ::DLTensor, ndim);
  EXPECT_SAME_MEMBER(DlTensor, type, ::DLTensor, dtype);
  EXPECT_SAME_MEMBER(DlTensor, shape, ::DLTensor, shape);
  EXPECT_SAME_MEMBER(DlTensor, strides, ::DLTensor, strides);
  EXPECT_SAME_MEMBER(DlTensor, first_byte, ::DLTensor, byte_offset);
  EXPECT_EQ(sizeof(DlManagedTensor), sizeof(::DLManagedTensor));
  EXPECT_SAME_MEMBER(DlManagedTensor, tensor, ::DLManagedTensor, dl_tensor);
  EXPECT_SAME_MEMBER(DlManagedTensor, context, ::DLManagedTensor, manager_ctx);
  EXPECT_SAME_MEMBER(DlManagedTensor, deleter, ::DLManagedTensor, deleter);
}

TEST(DlpackLayoutTest, CodesAreThoseOfTheInstalledHeader) {
  EXPECT_EQ(DlDevice().type, kDLCPU);
  EXPECT_EQ(2, kDLCUDA);
  EXPECT_EQ(0, kDLInt);
  EXPECT_EQ(2, kDLFloat);
  EXPECT_EQ(4, kDLBfloat);
}

#else

TEST(DlpackLayoutTest, NeedsAnInstalledHeader) {
  GTEST_SKIP() << "no dlpack.h was found when this was configured";
}

#endif

}  // namespace
}  // namespace stoker::feed
