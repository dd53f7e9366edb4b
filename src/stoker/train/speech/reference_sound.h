// From a sound file to the frames that say whose voice is to be spoken with.
#pragma once

#include <string>

#include "stoker/base/io/io.h"
#include "stoker/train/loop/voice_record.h"

namespace stoker::train {

// The log-mel of the file as the checkpoint's recipe makes it; of a longer one the loudest part of
// shape.reference_frames. E-SPEAK-REFERENCE for less than half a second or for silence, else what
// the file's reader says.
ReferenceMel load_reference(Io& io, const std::string& path, const VoiceRecord& voice);

}  // namespace stoker::train
