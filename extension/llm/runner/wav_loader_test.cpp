// SPDX-License-Identifier: BSD-3-Clause
// .wav files: each format, chunks before the samples, corrupted ones.
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <executorch/extension/llm/runner/wav_loader.h>
#include <executorch/runtime/platform/runtime.h>

using namespace executorch::extension::llm;
using testing::ElementsAre;
using testing::FloatEq;

namespace {

void put(std::string& bytes, uint32_t value, int width) {
  for (int i = 0; i < width; ++i) {
    bytes.push_back(static_cast<char>(value >> (8 * i)));
  }
}

// A file of two channels at 16 kHz, with a chunk of another kind before the samples.
std::string wav(uint16_t format, uint16_t bits, const std::string& samples) {
  std::string bytes = "RIFF";
  put(bytes, static_cast<uint32_t>(44 + samples.size()), 4);
  bytes += "WAVEfmt ";
  put(bytes, 16, 4);
  put(bytes, format, 2);
  put(bytes, 2, 2);
  put(bytes, 16000, 4);
  put(bytes, 16000 * 2 * bits / 8, 4);
  put(bytes, 2 * bits / 8, 2);
  put(bytes, bits, 2);
  bytes += "LIST";
  put(bytes, 2, 4);
  bytes += "xx";
  bytes += "data";
  put(bytes, static_cast<uint32_t>(samples.size()), 4);
  return bytes + samples;
}

std::string write(const std::string& bytes) {
  const std::string path = testing::TempDir() + "/wav_loader_test.wav";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

class WavLoaderTest : public testing::Test {
 protected:
  void SetUp() override { executorch::runtime::runtime_init(); }
};

}  // namespace

TEST_F(WavLoaderTest, IntegersAreScaled) {
  std::string samples;
  put(samples, 0x7FFF, 2);
  put(samples, 0x8001, 2);
  put(samples, 0, 2);
  EXPECT_THAT(load_wav_audio_data(write(wav(kWavFormatPcm, 16, samples))),
              ElementsAre(FloatEq(1.0f), FloatEq(-1.0f), 0.0f));
  samples.clear();
  put(samples, 0x7FFFFFFF, 4);
  put(samples, 0xC0000000, 4);
  EXPECT_THAT(load_wav_audio_data(write(wav(kWavFormatPcm, 32, samples))),
              ElementsAre(FloatEq(1.0f), FloatEq(-0.5f)));
}

TEST_F(WavLoaderTest, FloatsAreAsTheyAre) {
  std::string samples;
  put(samples, 0x3F000000, 4);  // 0.5
  put(samples, 0xBE800000, 4);  // -0.25
  EXPECT_THAT(load_wav_audio_data(write(wav(kWavFormatIeeeFloat, 32, samples))),
              ElementsAre(0.5f, -0.25f));
}

TEST_F(WavLoaderTest, TheHeaderIsRead) {
  const auto header = load_wav_header(write(wav(kWavFormatPcm, 16, "abcd")));
  ASSERT_NE(header, nullptr);
  EXPECT_EQ(header->NumOfChan, 2);
  EXPECT_EQ(header->SamplesPerSec, 16000u);
  EXPECT_EQ(header->bitsPerSample, 16);
  EXPECT_EQ(header->Subchunk2Size, 4u);
  EXPECT_EQ(header->dataOffset, 54u);  // 12 + 24 + 10 + 8
}

TEST_F(WavLoaderTest, EveryBeginningOfAFileIsRefusedOrRead) {
  const std::string whole = wav(kWavFormatPcm, 16, "abcd");
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::vector<char> part(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    const auto header = load_wav_header(part.data(), part.size());
    EXPECT_EQ(header != nullptr, size >= 54) << size;
  }
  EXPECT_EQ(load_wav_header(nullptr, 100), nullptr);
  std::string other = whole;
  other[0] = 'X';
  EXPECT_EQ(load_wav_header(other.data(), other.size()), nullptr);
}

TEST_F(WavLoaderTest, WhatCannotBeReadAborts) {
  EXPECT_DEATH(load_wav_audio_data("/nowhere.wav"), "Cannot open /nowhere.wav");
  EXPECT_DEATH(load_wav_audio_data(write("text")), "Expected a RIFF file");
  EXPECT_DEATH(load_wav_audio_data(write(wav(2, 16, "ab"))), "Expected format 1 .* found 2");
  EXPECT_DEATH(load_wav_audio_data(write(wav(kWavFormatPcm, 8, "ab"))), "found 8");
  const std::string whole = wav(kWavFormatPcm, 16, "abcd");
  EXPECT_DEATH(load_wav_audio_data(write(whole.substr(0, whole.size() - 1))),
               "Expected 4 bytes of samples");
}
