// The error codes of this folder: what can be wrong with a data set and its rows.
#pragma once

#include <array>

#include "stoker/base/error.h"

namespace stoker::data {

// Rows of a metadata file; E-META-NOTEXT, E-TEXT-UNKNOWN and E-TEXT-CONTROL are the text folder's.
inline constexpr ErrorCode kMetaFields{
    "E-META-FIELDS", ExitCode::kData, "A row has too few or too many fields.",
    "write id|text|normalised, or set data.extra_pipes: join to keep '|' inside the text"};
inline constexpr ErrorCode kMetaId{"E-META-ID", ExitCode::kData,
                                   "An id is empty, too long, or holds control characters.",
                                   "give the row a plain id"};
inline constexpr ErrorCode kMetaPath{
    "E-META-PATH", ExitCode::kData, "An id or path leads out of the data set; it was not opened.",
    "use paths inside the data set, or name the folder they start from: --audio-root FOLDER"};
inline constexpr ErrorCode kMetaUtf8{"E-META-UTF8", ExitCode::kData,
                                     "A row is not valid UTF-8, or holds U+FFFD.",
                                     "save the file as UTF-8"};
inline constexpr ErrorCode kMetaCr{"E-META-CR", ExitCode::kData,
                                   "A carriage return without a line feed.",
                                   "convert the line ends (sed 's/\\r/\\n/g')"};
inline constexpr ErrorCode kMetaLine{"E-META-LINE", ExitCode::kData,
                                     "A line is longer than a row can be; it was not kept.",
                                     "check that the file has line ends"};
inline constexpr ErrorCode kMetaDup{"E-META-DUP", ExitCode::kData,
                                    "An id occurs twice with the same text; the first row is kept.",
                                    "remove one of the two lines"};
inline constexpr ErrorCode kMetaDupText{"E-META-DUPTEXT", ExitCode::kData,
                                        "An id occurs with different texts; no row of it is used.",
                                        "find out which text is spoken and remove the other line"};
inline constexpr ErrorCode kMetaJson{"E-META-JSON", ExitCode::kData,
                                     "A line of a JSONL manifest is not the object it should be.",
                                     "write one object a line with audio_filepath and text, "
                                     "or --columns audio=KEY,text=KEY"};
inline constexpr ErrorCode kMetaQuote{"E-META-QUOTE", ExitCode::kData,
                                      "A quoted CSV field does not end on its line.",
                                      "close the quote, or use tabs instead of commas"};
inline constexpr ErrorCode kMetaSegment{"E-META-SEGMENT", ExitCode::kData,
                                        "A segment is empty or outside its file.",
                                        "correct offset and duration"};
inline constexpr ErrorCode kMetaEntry{"E-META-ENTRY", ExitCode::kData,
                                      "A Kaldi utterance has no usable entry in a sister file.",
                                      "complete wav.scp and segments"};
inline constexpr ErrorCode kMetaSplits{"E-META-SPLITS", ExitCode::kData,
                                       "A line of splits.txt does not name a part.",
                                       "write id|train, id|eval or id|unused"};

// Files that rows name.
inline constexpr ErrorCode kMetaNoFile{"E-META-NOFILE", ExitCode::kData,
                                       "The sound file of a row is not there.",
                                       "add the file, or remove the row"};
inline constexpr ErrorCode kMetaLink{"E-META-LINK", ExitCode::kData,
                                     "A symbolic link leaves the data set, or loops.",
                                     "copy the file into the data set, or name data.audio_root"};
inline constexpr ErrorCode kDataShort{"E-DATA-SHORT", ExitCode::kData,
                                      "An utterance is too short to give one frame.",
                                      "record it again, or remove the row"};
inline constexpr ErrorCode kDataLong{"E-DATA-LONG", ExitCode::kData,
                                     "A file is far longer than one utterance.",
                                     "cut it into utterances, or list segments of it"};
inline constexpr ErrorCode kDataRate{"E-DATA-RATE", ExitCode::kData,
                                     "A file has another sample rate than asked for.",
                                     "resample the file, or set data.other_rates: resample"};

// Whole data sets.
inline constexpr ErrorCode kMetaChanged{"E-META-CHANGED", ExitCode::kData,
                                        "A metadata file changed while it was being used.",
                                        "index again when nothing writes to it"};
inline constexpr ErrorCode kDataLayout{"E-DATA-LAYOUT", ExitCode::kData,
                                       "The folder is not a data set of a known layout.",
                                       "give it metadata.csv with lines id|text, and the sound in "
                                       "wavs/; docs/guide/your-data.md has every "
                                       "layout"};
inline constexpr ErrorCode kDataColumns{"E-DATA-COLUMNS", ExitCode::kUsage,
                                        "The column map does not fit the file's header.",
                                        "write --columns audio=NAME,text=NAME; where the first "
                                        "line is a row, write names above it, such as id,text"};
inline constexpr ErrorCode kDataSource{"E-DATA-SOURCE", ExitCode::kUsage,
                                       "The list of sources cannot be used as it is.",
                                       "give each source a path, a weight and a name of its own"};
inline constexpr ErrorCode kDataPattern{
    "E-DATA-PATTERN", ExitCode::kUsage,
    "data.speaker_id_pattern is not a usable regular expression.",
    "write one with a group, such as (p[0-9]+)_"};
inline constexpr ErrorCode kDataSpeakers{
    "E-DATA-SPEAKERS", ExitCode::kData, "There are more speakers than data.max_speakers.",
    "raise data.max_speakers, correct data.speaker_id_pattern, or set data.enable_multispeaker to "
    "false"};
inline constexpr ErrorCode kDataRecord{
    "E-DATA-RECORD", ExitCode::kData, "The file stoker.json of a data set cannot be read.",
    "write one object such as {\"language\": \"fa\"}, or remove the file"};
inline constexpr ErrorCode kDataRejects{
    "E-DATA-REJECTS", ExitCode::kData, "More rows were rejected than the bound allows.",
    "mend the rows that the list of rejects names, or raise data.max_bad_fraction"};
inline constexpr ErrorCode kDataNoRows{"E-DATA-NOROWS", ExitCode::kData, "No usable row is left.",
                                       "stoker data check FOLDER says why each row is left out"};
inline constexpr ErrorCode kDataStopped{"E-DATA-STOPPED", ExitCode::kData,
                                        "The work was stopped before it was done.",
                                        "run the same command again"};

// Rows the user's own limits leave out.
inline constexpr ErrorCode kFilterSplit{"E-FILTER-SPLIT", ExitCode::kData,
                                        "The row belongs to another split.",
                                        "type --set data.split=all to use every row"};
inline constexpr ErrorCode kFilterSubset{
    "E-FILTER-SUBSET", ExitCode::kData, "The row is outside the subset fraction.",
    "raise data.train_subset_fraction or data.eval_subset_fraction"};
inline constexpr ErrorCode kFilterText{"E-FILTER-TEXT", ExitCode::kData,
                                       "The text is shorter or longer than asked for.",
                                       "change data.min_text_length or data.max_text_length"};
inline constexpr ErrorCode kFilterDuration{"E-FILTER-DURATION", ExitCode::kData,
                                           "The duration is outside the asked range.",
                                           "change data.min_audio_length or data.max_audio_length"};
inline constexpr ErrorCode kFilterFrames{"E-FILTER-FRAMES", ExitCode::kData,
                                         "The utterance has more frames than data.max_mel_frames.",
                                         "raise data.max_mel_frames, or cut the recording"};

// Oddities: the row is used, and the oddity counted and listed.
inline constexpr ErrorCode kMetaSameFile{"E-META-SAMEFILE", ExitCode::kData,
                                         "Two ids have the same recording.",
                                         "remove one of the two rows unless both are meant"};
inline constexpr ErrorCode kMetaTwoFiles{"E-META-TWOFILES", ExitCode::kData,
                                         "An id fits two files; the first is used.",
                                         "remove or rename one of the two files"};
inline constexpr ErrorCode kDataPace{"E-DATA-PACE", ExitCode::kData,
                                     "Characters per second are far from the data set's median.",
                                     "listen to it: the text may belong to another recording"};
inline constexpr ErrorCode kDataSilent{"E-DATA-SILENT", ExitCode::kData, "Every sample is zero.",
                                       "remove the row, or record it again"};
inline constexpr ErrorCode kDataConstant{"E-DATA-CONSTANT", ExitCode::kData,
                                         "Every sample has one value that is not zero.",
                                         "remove the row, or record it again"};
inline constexpr ErrorCode kDataClipped{
    "E-DATA-CLIPPED", ExitCode::kData, "Many samples are at full scale or beyond.",
    "listen to it; record it again at a lower level if it sounds harsh"};
inline constexpr ErrorCode kDataOffset{
    "E-DATA-OFFSET", ExitCode::kData,
    "The samples are not centred on zero: the recording has a DC offset.",
    "remove it with a high-pass filter (sox in.wav out.wav highpass 20)"};
inline constexpr ErrorCode kDataQuiet{
    "E-DATA-QUIET", ExitCode::kData, "The recording is far quieter than speech usually is.",
    "listen to it; record it again at a higher level if it is hard to hear"};
inline constexpr ErrorCode kDataMixed{"E-DATA-MIXED", ExitCode::kData,
                                      "Several channels are mixed to one.", ""};
inline constexpr ErrorCode kDataResampled{"E-DATA-RESAMPLED", ExitCode::kData,
                                          "The file's rate is not the asked one: resampled.", ""};

inline constexpr ErrorCode kMakeFolder{
    "E-MAKE-FOLDER", ExitCode::kUsage,
    "The folder for a made data set is not empty, or holds files that `data make` did not write.",
    "give another --out, or --overwrite to replace a data set made before"};
inline constexpr ErrorCode kMakeOption{"E-MAKE-OPTION", ExitCode::kUsage,
                                       "An option of `data make` is outside what it can do.",
                                       "give a value in that range"};

inline constexpr std::array kErrorCodes{
    &kMetaFields,  &kMetaId,         &kMetaPath,      &kMetaUtf8,     &kMetaCr,
    &kMetaLine,    &kMetaDup,        &kMetaDupText,   &kMetaJson,     &kMetaQuote,
    &kMetaSegment, &kMetaEntry,      &kMetaSplits,    &kMetaNoFile,   &kMetaLink,
    &kDataShort,   &kDataLong,       &kDataRate,      &kMetaChanged,  &kDataLayout,
    &kDataColumns, &kDataSource,     &kDataPattern,   &kDataSpeakers, &kDataRecord,
    &kDataRejects, &kDataNoRows,     &kDataStopped,   &kFilterSplit,  &kFilterSubset,
    &kFilterText,  &kFilterDuration, &kFilterFrames,  &kMetaSameFile, &kMetaTwoFiles,
    &kDataPace,    &kDataSilent,     &kDataConstant,  &kDataClipped,  &kDataOffset,
    &kDataQuiet,   &kDataMixed,      &kDataResampled, &kMakeFolder,   &kMakeOption};

}  // namespace stoker::data
