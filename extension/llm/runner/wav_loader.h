// SPDX-License-Identifier: BSD-3-Clause
// Samples of a .wav file.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <executorch/runtime/platform/assert.h>

namespace executorch::extension::llm {

inline constexpr uint16_t kWavFormatPcm = 1;
inline constexpr uint16_t kWavFormatIeeeFloat = 3;
inline constexpr float kOneOverIntMax =
    1.0f / static_cast<float>(std::numeric_limits<int32_t>::max());
inline constexpr float kOneOverShortMax =
    1.0f / static_cast<float>(std::numeric_limits<int16_t>::max());

// The fields of a file's first 44 bytes, and where its samples are.
struct WavHeader {
  uint8_t RIFF[4];
  uint32_t ChunkSize;
  uint8_t WAVE[4];
  uint8_t fmt[4];
  uint32_t Subchunk1Size;
  uint16_t AudioFormat;  // kWavFormatPcm, kWavFormatIeeeFloat, or another
  uint16_t NumOfChan;
  uint32_t SamplesPerSec;
  uint32_t bytesPerSec;
  uint16_t blockAlign;
  uint16_t bitsPerSample;
  uint32_t dataOffset;     // of the first sample, from the beginning of the file
  uint32_t Subchunk2Size;  // bytes of samples
};

namespace detail {

// Aborts if the file cannot be read.
inline std::vector<char> read_file(const std::string& fp) {
  std::ifstream file(fp, std::ios::binary);
  ET_CHECK_MSG(file.is_open(), "Cannot open %s", fp.c_str());
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline uint16_t read_le16(const char* p) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(p);
  return static_cast<uint16_t>(bytes[0] | bytes[1] << 8);
}

inline uint32_t read_le32(const char* p) {
  return read_le16(p) | static_cast<uint32_t>(read_le16(p + 2)) << 16;
}

// Where the chunk `data` begins behind the format; 0 if there is none.
inline size_t find_data(const char* data, size_t data_size) {
  size_t offset = 20 + static_cast<size_t>(read_le32(data + 16));
  while (offset + 8 <= data_size) {
    if (std::memcmp(data + offset, "data", 4) == 0) {
      return offset;
    }
    offset += 8 + static_cast<size_t>(read_le32(data + offset + 4));
  }
  return 0;
}

}  // namespace detail

// Null unless it is a RIFF file of WAVE with samples.
inline std::unique_ptr<WavHeader> load_wav_header(const char* data, size_t data_size) {
  if (data == nullptr || data_size < 36 || std::memcmp(data, "RIFF", 4) != 0 ||
      std::memcmp(data + 8, "WAVE", 4) != 0) {
    return nullptr;
  }
  const size_t samples = detail::find_data(data, data_size);
  if (samples == 0) {
    return nullptr;
  }
  auto header = std::make_unique<WavHeader>();
  std::memcpy(header->RIFF, data, 4);
  header->ChunkSize = detail::read_le32(data + 4);
  std::memcpy(header->WAVE, data + 8, 4);
  std::memcpy(header->fmt, data + 12, 4);
  header->Subchunk1Size = detail::read_le32(data + 16);
  header->AudioFormat = detail::read_le16(data + 20);
  header->NumOfChan = detail::read_le16(data + 22);
  header->SamplesPerSec = detail::read_le32(data + 24);
  header->bytesPerSec = detail::read_le32(data + 28);
  header->blockAlign = detail::read_le16(data + 32);
  header->bitsPerSample = detail::read_le16(data + 34);
  header->dataOffset = static_cast<uint32_t>(samples + 8);
  header->Subchunk2Size = detail::read_le32(data + samples + 4);
  return header;
}

// Of a file, which aborts if it cannot be read.
inline std::unique_ptr<WavHeader> load_wav_header(const std::string& fp) {
  const std::vector<char> data = detail::read_file(fp);
  return load_wav_header(data.data(), data.size());
}

// Samples from -1 to 1, channels in turns, at the rate that the file has. Aborts for what is no
// such file, and for others than 16 and 32 bits of integers and 32 bits of floats.
inline std::vector<float> load_wav_audio_data(const std::string& fp) {
  const std::vector<char> data = detail::read_file(fp);
  const auto header = load_wav_header(data.data(), data.size());
  ET_CHECK_MSG(header != nullptr, "Expected a RIFF file of WAVE with samples: %s", fp.c_str());
  const bool is_float = header->AudioFormat == kWavFormatIeeeFloat;
  ET_CHECK_MSG(is_float || header->AudioFormat == kWavFormatPcm,
               "Expected format 1 (PCM) or 3 (float) in %s, found %d", fp.c_str(),
               static_cast<int>(header->AudioFormat));
  ET_CHECK_MSG(header->bitsPerSample == 32 || (header->bitsPerSample == 16 && !is_float),
               "Expected 32 bits, or 16 of integers, in %s, found %d", fp.c_str(),
               static_cast<int>(header->bitsPerSample));
  ET_CHECK_MSG(header->Subchunk2Size <= data.size() - header->dataOffset,
               "Expected %u bytes of samples in %s, found %zu", header->Subchunk2Size, fp.c_str(),
               data.size() - header->dataOffset);
  const size_t width = header->bitsPerSample / 8;
  std::vector<float> samples(header->Subchunk2Size / width);
  const char* from = data.data() + header->dataOffset;
  for (size_t i = 0; i < samples.size(); ++i, from += width) {
    if (width == 2) {
      samples[i] =
          static_cast<float>(static_cast<int16_t>(detail::read_le16(from))) * kOneOverShortMax;
      continue;
    }
    const uint32_t bits = detail::read_le32(from);
    if (is_float) {
      std::memcpy(&samples[i], &bits, sizeof(float));
    } else {
      samples[i] = static_cast<float>(static_cast<int32_t>(bits)) * kOneOverIntMax;
    }
  }
  return samples;
}

}  // namespace executorch::extension::llm
