"""One engine of the package in one phase: its step times, and how well a point is founded."""

import glob
import os

import aiconfigurator_core
import pandas
from aiconfigurator_core.sdk import common, config, engine, operations, perf_database
from aiconfigurator_core.sdk.models import get_model
from aiconfigurator_core.sdk.models.helpers import (resolve_context_fmha_by_data,
                                                    resolve_dsv4_moe_arch,
                                                    resolve_nvfp4_for_system)
from packaging.version import Version

ESTIMATED_SHARE_MAX = 0.05  # of a step's time, from which it counts as derived


class Phase:
    """A point is (requests, new tokens of each, cached tokens of each); decode has no new ones."""

    def __init__(self, preset, phase, expert_load="power_law"):
        self.prefill = phase == "prefill"
        tp, dp, ep = preset.layout(phase)
        self.layout = {"tp": tp, "dp": dp, "ep": ep, "gpus": tp * dp}
        self.database = perf_database.get_database(preset.system, preset.backend, "current")
        self.gpus_per_node = self.database.system_spec["node"]["num_gpus_per_node"]
        self.config = self._configuration(preset, phase, expert_load)
        # Else the engine finds no expert times for V4 (the package forgets to call it).
        resolve_dsv4_moe_arch(self.config, preset.model, system_name=preset.system,
                              backend_name=preset.backend)
        if "quant" in preset.options:  # as the package's own estimator does
            resolve_context_fmha_by_data(self.config, preset.model, self.database, preset.backend,
                                         is_context_role=True)
            resolve_nvfp4_for_system(self.config, preset.system, preset.model,
                                     backend_name=preset.backend)
        self.model = get_model(preset.model, self.config, preset.backend)
        if preset.options.get("replace_dispatch") == phase:
            name = self._ops_name()
            setattr(self.model, name, [self._with_alltoall(op) for op in getattr(self.model, name)])
        self._handle = self._build(preset)
        self._ops = [inner for op in getattr(self.model, self._ops_name())
                     for inner in self._inner_ops(op)]
        self._all_ops = engine.build_ops_json(self._ops)
        self._parts = {
            "attention_ms": self._pick("Attention", "MLA", "DSA"),
            "communication_ms": self._pick("Dispatch", "AllToAll", "AllReduce", "NCCL", "P2P"),
        }
        self._read_measured_ranges(preset)

    def _ops_name(self):
        return "context_ops" if self.prefill else "generation_ops"

    def _configuration(self, preset, phase, expert_load):
        options, layout = preset.options, self.layout
        quant = options.get("quant", {})
        return config.ModelConfig(
            gemm_quant_mode=common.GEMMQuantMode[quant["gemm"]] if "gemm" in quant else None,
            moe_quant_mode=common.MoEQuantMode[quant["moe"]] if "moe" in quant else None,
            tp_size=layout["tp"], attention_dp_size=layout["dp"], moe_ep_size=layout["ep"],
            moe_tp_size=layout["gpus"] // layout["ep"], system=preset.system,
            num_gpus_per_node=self.gpus_per_node, workload_distribution=expert_load,
            moe_comm_backend=options.get("comm", {}).get(phase),
            fmha_quant_mode=common.FMHAQuantMode[options["fmha"]] if "fmha" in options else None,
            kvcache_quant_mode=common.KVCacheQuantMode[options["kv"]] if "kv" in options else None)

    def _build(self, preset):
        spec = engine.build_engine_spec_json(
            self.model, model_path=preset.model, system=preset.system, backend=preset.backend,
            nextn=0, backend_version=self.database.version, kv_block_size=None, systems_path=None,
            database=self.database)
        return engine.EngineHandle(bytes(aiconfigurator_core.engine_spec_bincode_from_json(spec)))

    @staticmethod
    def _inner_ops(op):
        if type(op).__name__ == "OverlapOp":
            return [*op._group_a, *op._group_b]
        return [op]

    def _with_alltoall(self, op):
        kind = type(op).__name__
        if kind == "OverlapOp":
            groups = {name: [self._with_alltoall(inner) for inner in getattr(op, "_" + name)]
                      for name in ("group_a", "group_b")}
            return operations.OverlapOp(op._name, **groups)
        if kind != "MoEDispatch":
            return op
        return operations.MoEAllToAll(
            op._name, op._scale_factor, comm_dtype="default",
            phase="dispatch" if "_pre_" in op._name else "combine",
            comm_backend="deepep_ht" if self.prefill else "deepep_ll",
            hidden_size=self.model._hidden_size, topk=self.model._topk,
            num_experts=self.model._num_experts, moe_ep_size=self.layout["ep"],
            node_num=-(-self.layout["ep"] // self.gpus_per_node), sms=20 if self.prefill else 0)

    def _pick(self, *words):
        return engine.build_ops_json(
            [op for op in self._ops if any(word in type(op).__name__ for word in words)])

    def total(self, requests, new, cached):
        """Milliseconds of a step."""
        if self.prefill:
            return self._handle.predict_prefill_latency(requests, new + cached, cached)
        return self._handle.predict_decode_latency(requests, cached, 2)

    def parts(self):
        """Name → function of a point: milliseconds of some of the step's operators."""
        return {name: lambda *point, ops=ops: sum(op[1] for op in self._evaluate(ops, *point))
                for name, ops in self._parts.items()}

    def _evaluate(self, ops, requests, new, cached):
        length = new if self.prefill else cached + 1
        prefix = cached if self.prefill else 0
        return self._handle._engine.evaluate_ops_json(ops, self.prefill, requests, length, prefix,
                                                      1.0, None)

    def mark(self, requests, new, cached):
        """a, t, w: attention, expert tokens, communication beyond what was measured; e: derived;
        m: measured (runtime/simulation/timing_table.hpp)."""
        batch, length, step = self._attention_rows.T
        wanted = new if self.prefill else 0
        inside = (batch >= requests) & (length >= wanted) & (length + step >= wanted + cached)
        if not inside.any():
            return "a"
        tokens = requests * (new if self.prefill else 1) * self.layout["dp"]
        if self.moe_tokens and tokens > self.moe_tokens:
            return "t"
        if self.layout["gpus"] > self.gpus_per_node and not self.config.moe_comm_backend:
            return "w"
        ops = self._evaluate(self._all_ops, requests, new, cached)
        estimated = sum(op[1] for op in ops if op[3] != "silicon")
        return "e" if estimated > ESTIMATED_SHARE_MAX * sum(op[1] for op in ops) else "m"

    def _read_measured_ranges(self, preset):
        """The box of batches, lengths and prefixes of the attention, and the experts' tokens."""
        root = os.path.join(os.path.dirname(aiconfigurator_core.__file__), "systems", "data",
                            preset.system)
        kinds = " ".join(type(op).__name__ for op in self._ops)
        phase = "context" if self.prefill else "generation"
        attention = self._newest(root, self._attention_pattern(kinds, preset.backend, phase))
        frame = pandas.read_parquet(attention).groupby(["batch_size", "isl"]).step.max()
        self._attention_rows = frame.reset_index().to_numpy()
        self.sources, self.moe_tokens = [os.path.relpath(attention, root)], None
        if "moe" not in kinds.lower():
            return
        names = ["moe_perf*"]
        if self.config.moe_comm_backend:
            names = [f"wideep_{phase}_moe*", "wideep_moe*", *names]
        experts = next(filter(None, (self._newest(root, f"moe/{preset.backend}/*/{name}")
                                     for name in names)))
        mine = [(column, "==", getattr(self.model, "_" + column))
                for column in ("num_experts", "hidden_size") if hasattr(self.model, "_" + column)]
        rows = pandas.read_parquet(experts, columns=["num_tokens"], filters=mine)
        self.moe_tokens = int(rows.num_tokens.max())
        self.sources.append(os.path.relpath(experts, root))

    @staticmethod
    def _attention_pattern(kinds, backend, phase):
        if "V4" in kinds:
            return f"sparse_attention/{backend}/*/dsv4_csa_{phase}*"
        if "WideEP" in kinds or "Wideep" in kinds:
            return f"mla/{backend}/*/wideep_{phase}*"
        if "MLAModule" in kinds:
            return f"mla/{backend}/*/mla_{phase}_module*"
        if "MLA" in kinds:
            return f"mla/{backend}/*/{phase}_mla_perf*"
        if "DSA" in kinds:
            return f"sparse_attention/{backend}/*/dsa_{phase}_module*"
        return f"attention/{backend}/*/{phase}*"

    def _newest(self, root, pattern):
        """Of the backend's own version or the newest before it; None if there is none."""
        def release(path):
            return Version(path.split(os.sep)[-2])

        own = Version(self.database.version)
        files = [path for path in glob.glob(os.path.join(root, pattern)) if release(path) <= own]
        return max(files, key=release, default=None)
