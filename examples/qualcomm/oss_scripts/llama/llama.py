# SPDX-License-Identifier: BSD-3-Clause
"""The documented command: a language model for Qualcomm's NPU, and text from it.

usage: python examples/qualcomm/oss_scripts/llama/llama.py -b BUILD -s SERIAL -m SM8650 --decoder_model NAME
           --checkpoint FILE [--params params.json] [--tokenizer_model FILE] --model_mode kv|hybrid|lookahead
           --max_seq_len 512 --prompt TEXT [--compile_only | --pre_gen_pte FOLDER]
"""

from executorch.examples.qualcomm.oss_scripts.llama.command import main

if __name__ == "__main__":
    main()
