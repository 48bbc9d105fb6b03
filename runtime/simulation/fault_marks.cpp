#include "runtime/simulation/fault_marks.hpp"

#include "runtime/simulation/formatted.hpp"

namespace troupe {

namespace {

const char* name_of(GroupKind group) {
  switch (group) {
    case GroupKind::kPrefillEngine:
      return "prefill_engine";
    case GroupKind::kDecodeInstance:
      return "decode_instance";
    case GroupKind::kEncoderMachine:
      break;
  }
  return "encoder_machine";
}

const char* name_of(FabricPart part) {
  switch (part) {
    case FabricPart::kNic:
      return "nic";
    case FabricPart::kSpine:
      return "spine";
    case FabricPart::kStorageRead:
      return "storage_read";
    case FabricPart::kStorageWrite:
      break;
  }
  return "storage_write";
}

std::string group_text(const char* act, const ClusterFault& fault, std::uint32_t which) {
  return formatted("%s %s %u", act, name_of(fault.group), which);
}

std::string link_text(const ClusterFault& fault, std::uint32_t which) {
  std::string text = fault.share <= kStalledShare ? "stall " : "slow ";
  text += name_of(fault.part);
  if (fault.part == FabricPart::kNic) text += formatted(" %u", which);
  if (fault.share > kStalledShare) text += formatted(" to %g", fault.share);
  return text;
}

}  // namespace

std::string text_of(const ClusterFault& fault, std::uint32_t which) {
  switch (fault.act) {
    case FaultAct::kKill:
      return group_text("kill", fault, which);
    case FaultAct::kKillService:
      return fault.service == FrontService::kGateway ? "kill gateway" : "kill streams";
    case FaultAct::kFreeze:
      return group_text("freeze", fault, which);
    case FaultAct::kPartition:
      return group_text("partition", fault, which);
    case FaultAct::kSlowGroup:
      return group_text("slow", fault, which) + formatted(" to %g", fault.share);
    case FaultAct::kSlowLink:
      return link_text(fault, which);
    case FaultAct::kDrop:
      break;
  }
  return formatted("drop %g of %s", fault.share, fault.message.c_str());
}

}  // namespace troupe
