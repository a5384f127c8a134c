// SPDX-License-Identifier: BSD-3-Clause
// MultimodalInput, Image, Audio: kinds, contents, tensors.
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <executorch/extension/llm/runner/multimodal_input.h>
#include <executorch/runtime/platform/runtime.h>

using namespace executorch::extension::llm;
using executorch::aten::ScalarType;
using executorch::runtime::Error;

TEST(MultimodalInputTest, KnowsItsKind) {
  using Type = MultimodalInput::Type;
  const struct {
    MultimodalInput input;
    Type type;
    const char* name;
  } rows[] = {{make_text_input("hi"), Type::TEXT, "text"},
              {make_token_input({1, 2}), Type::TOKENS, "tokens"},
              {make_image_input(Image{}), Type::IMAGE, "image"},
              {make_audio_input(Audio{}), Type::AUDIO, "audio"},
              {make_raw_audio_input(RawAudio{}), Type::RAW_AUDIO, "raw_audio"}};
  for (const auto& row : rows) {
    EXPECT_EQ(row.input.get_type(), row.type);
    EXPECT_STREQ(row.input.type_name(), row.name);
    EXPECT_EQ(row.input.is_text(), row.type == Type::TEXT);
    EXPECT_EQ(row.input.try_get_tokens() != nullptr, row.type == Type::TOKENS);
    EXPECT_EQ(row.input.is_image(), row.type == Type::IMAGE);
    EXPECT_EQ(row.input.try_get_audio() != nullptr, row.type == Type::AUDIO);
    EXPECT_EQ(row.input.is_raw_audio(), row.type == Type::RAW_AUDIO);
  }
  EXPECT_EQ(MultimodalInput::TypeToString(Type::UNSUPPORTED), "unknown");
  EXPECT_EQ(rows[0].input.get_text(), "hi");
  EXPECT_THROW((void)rows[0].input.get_image(), std::bad_variant_access);
  EXPECT_EQ(rows[1].input.get_tokens(), (std::vector<uint64_t>{1, 2}));
}

TEST(ImageTest, BecomesATensor) {
  executorch::runtime::runtime_init();
  Image image(std::vector<uint8_t>{1, 2, 3, 4, 5, 6}, 3, 2, 1);
  EXPECT_TRUE(image.is_uint8());
  EXPECT_THROW((void)image.get_float_data(), std::bad_variant_access);
  const auto tensor = image.toTensor();
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ((*tensor)->scalar_type(), ScalarType::Byte);
  EXPECT_EQ(std::vector<int>((*tensor)->sizes().begin(), (*tensor)->sizes().end()),
            (std::vector<int>{1, 2, 3}));
  EXPECT_EQ((*tensor)->const_data_ptr<uint8_t>(), image.get_uint8_data().data());
  Image floats(std::vector<float>(12, 0.5f), 2, 2, 3);
  EXPECT_EQ((*floats.toTensor(true))->dim(), 4);
  EXPECT_EQ((*floats.toTensor())->scalar_type(), ScalarType::Float);
}

TEST(ImageTest, PixelsAreCounted) {
  executorch::runtime::runtime_init();
  Image image(std::vector<uint8_t>{1, 2, 3}, 3, 2, 1);
  EXPECT_EQ(image.toTensor().error(), Error::InvalidArgument);
}

TEST(AudioTest, BecomesATensor) {
  executorch::runtime::runtime_init();
  Audio audio(std::vector<float>{1, 2, 3, 4}, 1, 2, 2);
  EXPECT_EQ((*audio.toTensor())->dim(), 3);
  EXPECT_EQ((*audio.toTensor(true))->dim(), 4);
  EXPECT_EQ((*audio.toTensor())->const_data_ptr<float>()[3], 4.0f);
  EXPECT_DEATH(Audio(std::vector<float>{1, 2, 3}, 1, 2, 2), "Expected 4 values for audio");
}
