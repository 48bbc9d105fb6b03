#include "runtime/recipe/request/json_shape.hpp"

namespace troupe::recipe {

bool ShapeReader::next_slot(Slot& slot) {
  if (open_.empty() || !open_.back().is_array) {
    slot = pending_;
    return true;
  }
  const Slot container = open_.back().container;
  slot = {};
  if (container.type == nullptr) return true;
  const std::size_t bytes = container.type->element_bytes;
  if (bytes > list_bytes_left_) return false;
  list_bytes_left_ -= bytes;
  slot = container.type->child(container.target, {});
  return true;
}

bool ShapeReader::key(std::string_view text) {
  if (tape_.depth() > 0) return tape_.key(text);
  const Slot container = open_.back().container;
  pending_ = container.type == nullptr ? Slot{} : container.type->child(container.target, text);
  return true;
}

bool ShapeReader::send_scalar(JsonKind kind, std::string_view text) {
  switch (kind) {
    case JsonKind::kNull:
      return tape_.null();
    case JsonKind::kFalse:
    case JsonKind::kTrue:
      return tape_.boolean(kind == JsonKind::kTrue);
    case JsonKind::kNumber:
      return tape_.number(text);
    default:
      return tape_.string(text);
  }
}

bool ShapeReader::send_begin(JsonKind kind) {
  return kind == JsonKind::kObject ? tape_.begin_object() : tape_.begin_array();
}

bool ShapeReader::scalar(JsonKind kind, std::string_view text) {
  if (tape_.depth() > 0) return send_scalar(kind, text);
  Slot slot;
  if (!next_slot(slot)) return false;
  if (slot.type == nullptr) return true;
  if (slot.type->capture != nullptr) {
    slot.type->capture(slot.target, kind, tape_.next());
    return send_scalar(kind, text);
  }
  slot.type->scalar(slot.target, kind, text);
  return true;
}

bool ShapeReader::begin(JsonKind kind) {
  if (tape_.depth() > 0) return send_begin(kind);
  Slot slot;
  if (!next_slot(slot)) return false;
  Frame frame{{}, kind == JsonKind::kArray};
  if (slot.type != nullptr && slot.type->capture != nullptr) {
    slot.type->capture(slot.target, kind, tape_.next());
    return send_begin(kind);
  }
  if (slot.type != nullptr) frame.container = slot.type->open(slot.target, kind);
  open_.push_back(frame);
  return true;
}

bool ShapeReader::end(JsonKind kind) {
  if (tape_.depth() > 0) return kind == JsonKind::kObject ? tape_.end_object() : tape_.end_array();
  open_.pop_back();
  return true;
}

}  // namespace troupe::recipe
