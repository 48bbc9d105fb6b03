"""Which engines have tables: model, machine, backend, layouts of both phases.

A layout is (TP, DP, EP) with TP * DP = MoE-TP * EP, as the package wants it. Options:
  replace_dispatch  the phase whose MoE dispatch is swapped for DeepEP: V4 has no path for large EP
                    of its own, and its all-gather across nodes gives nonsense
  comm, fmha, kv    of V3's large-EP path, which exists with these only
  quant             {"gemm": mode, "moe": mode} in place of the checkpoint's own
"""

from dataclasses import dataclass, field

V4 = "deepseek-ai/DeepSeek-V4-Flash"
V4_FP8 = "sgl-project/DeepSeek-V4-Flash-FP8"  # Hopper has no FP4
V3 = "deepseek-ai/DeepSeek-V3"

DEEPEP = {"prefill": "deepep_ht", "decode": "deepep_ll"}
NVLINK = {"prefill": "nvlink_two_sided", "decode": "nvlink_two_sided"}


@dataclass
class Preset:
    model: str
    system: str
    backend: str
    prefill: tuple
    decode: tuple
    options: dict = field(default_factory=dict)

    def layout(self, phase):
        return self.prefill if phase == "prefill" else self.decode


WIDE_DECODE = {"replace_dispatch": "decode"}

PRESETS = {
    "dsv4flash-gb200-ep4-ep64": Preset(V4, "gb200", "sglang", (1, 4, 4), (1, 64, 64), WIDE_DECODE),
    "dsv4flash-b200-ep4-ep64": Preset(V4, "b200_sxm", "sglang", (1, 4, 4), (1, 64, 64), WIDE_DECODE),
    "dsv4flash-b200-ep8-ep8": Preset(V4, "b200_sxm", "sglang", (1, 8, 8), (1, 8, 8)),
    "dsv4flash-fp8-h200-ep8-ep8": Preset(V4_FP8, "h200_sxm", "sglang", (1, 8, 8), (1, 8, 8)),
    "dsv4flash-fp8-h200-ep8-ep64": Preset(V4_FP8, "h200_sxm", "sglang", (1, 8, 8), (1, 64, 64),
                                          WIDE_DECODE),
    "dsv3-h200-ep8-ep64": Preset(V3, "h200_sxm", "sglang", (1, 8, 8), (1, 64, 64),
                                 {"comm": DEEPEP, "fmha": "fp8_block", "kv": "fp8"}),
    "dsv3-gb200-ep8-ep64": Preset(V3, "gb200", "trtllm", (1, 8, 8), (1, 64, 64),
                                  {"comm": NVLINK, "fmha": "bfloat16", "kv": "fp8"}),
    "llama70b-fp8-h200-tp8": Preset("nvidia/Llama-3.1-70B-Instruct-FP8", "h200_sxm", "trtllm",
                                    (8, 1, 1), (8, 1, 1)),
    "qwen3-30b-a3b-h100-tp2": Preset("Qwen/Qwen3-30B-A3B", "h100_sxm", "vllm", (2, 1, 2), (2, 1, 2)),
}
