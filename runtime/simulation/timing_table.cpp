#include "runtime/simulation/timing_table.hpp"

#include <rapidjson/document.h>
#include <rapidjson/error/en.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace troupe {

namespace {

using Json = rapidjson::Value;

constexpr std::size_t kAxisPointsMax = 4096;
constexpr std::string_view kMarks = "mewta";
/// Files round to 1e-4 ms or five digits; their vectors must agree to that.
constexpr double kVectorTolerance = 2e-4;

Error corrupt(const std::string& what) {
  return {Code::kCorrupt, "timing table: " + what};
}

/// The member `path` ("prefill.axes.requests") of an object.
Result<const Json*> member(const Json& root, std::string_view path) {
  const Json* at = &root;
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::string name(rest.substr(0, rest.find('.')));
    if (!at->IsObject() || !at->HasMember(name.c_str())) {
      return corrupt(std::string(path) + " is missing");
    }
    at = &(*at)[name.c_str()];
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
  }
  return at;
}

Result<std::string> text(const Json& root, std::string_view path) {
  TROUPE_TRY_ASSIGN(const Json* value, member(root, path));
  if (!value->IsString()) return corrupt(std::string(path) + " is not a text");
  return std::string(value->GetString(), value->GetStringLength());
}

Result<double> number(const Json& root, std::string_view path) {
  TROUPE_TRY_ASSIGN(const Json* value, member(root, path));
  if (!value->IsNumber()) return corrupt(std::string(path) + " is not a number");
  return value->GetDouble();
}

/// Appends the numbers of a list; `count` of them if it is not 0.
Status append_numbers(const Json& list, const std::string& path, std::size_t count,
                      std::vector<double>& out) {
  if (!list.IsArray() || (count != 0 && list.Size() != count)) {
    return corrupt(path + " is not a list of " + std::to_string(count) + " numbers");
  }
  for (const Json& each : list.GetArray()) {
    if (!each.IsNumber() || !std::isfinite(each.GetDouble())) {
      return corrupt(path + " holds something that is not a number");
    }
    out.push_back(each.GetDouble());
  }
  return ok_status();
}

Result<std::vector<double>> axis(const Json& root, const std::string& path) {
  TROUPE_TRY_ASSIGN(const Json* list, member(root, path));
  std::vector<double> points;
  TROUPE_TRY(append_numbers(*list, path, 0, points));
  bool ascending = points.size() >= 2 && points.size() <= kAxisPointsMax && points.front() >= 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    ascending = ascending && points[i - 1] < points[i];
  }
  if (!ascending) return corrupt(path + " is not a list of ascending numbers from 0 on");
  return points;
}

Status check_marks(const Json& marks, const std::string& path, std::size_t count) {
  const std::string_view letters = marks.IsString() ? marks.GetString() : "";
  if (letters.size() == count && letters.find_first_not_of(kMarks) == letters.npos) {
    return ok_status();
  }
  return corrupt(path + " is not " + std::to_string(count) + " letters of " + std::string(kMarks));
}

std::string index_text(std::size_t index) {
  return "[" + std::to_string(index) + "]";
}

std::vector<float> narrow(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

class TimingTableReader {
 public:
  explicit TimingTableReader(const Json& root) : root_(root) {}

  Result<TimingTable> read() {
    TROUPE_TRY_ASSIGN(const std::string schema, text(root_, "schema"));
    if (schema != "troupe-timing-1") {
      return corrupt("schema is " + schema + "; troupe-timing-1 is expected");
    }
    TROUPE_TRY(read_names());
    TROUPE_TRY(read_memory());
    TROUPE_TRY(read_axes());
    TROUPE_TRY(read_prefill());
    TROUPE_TRY(read_decode());
    TROUPE_TRY(read_kv());
    TROUPE_TRY(check_vectors());
    return std::move(table_);
  }

 private:
  Status read_names() {
    TROUPE_TRY_ASSIGN(table_.name_, text(root_, "name"));
    TROUPE_TRY_ASSIGN(table_.model_, text(root_, "model.path"));
    TROUPE_TRY_ASSIGN(table_.backend_, text(root_, "provenance.backend"));
    TROUPE_TRY_ASSIGN(const std::string version, text(root_, "provenance.backend_version"));
    TROUPE_TRY_ASSIGN(const std::string system, text(root_, "provenance.system"));
    TROUPE_TRY_ASSIGN(const std::string package, text(root_, "provenance.package"));
    TROUPE_TRY_ASSIGN(const std::string licence, text(root_, "provenance.licence"));
    table_.origin_ = table_.backend_ + " " + version + " on " + system + ", from " + package +
                     " (" + licence + ")";
    TROUPE_TRY(read_layout("prefill.layout.", table_.prefill_layout_));
    return read_layout("decode.layout.", table_.decode_layout_);
  }

  Status read_layout(const std::string& path, TimingLayout& layout) {
    const std::pair<const char*, std::uint32_t*> members[] = {
        {"tp", &layout.tp}, {"dp", &layout.dp}, {"ep", &layout.ep}, {"gpus", &layout.gpus}};
    for (const auto& [name, target] : members) {
      TROUPE_TRY_ASSIGN(const double value, number(root_, path + name));
      if (value < 1 || value > 65536) return corrupt(path + name + " is not 1 to 65536");
      *target = static_cast<std::uint32_t>(value);
    }
    return ok_status();
  }

  Status read_memory() {
    TROUPE_TRY_ASSIGN(table_.gpu_memory_, number(root_, "gpu.memory_bytes"));
    TROUPE_TRY(read_bytes("memory.prefill_16384_tokens.", table_.prefill_memory_));
    return read_bytes("memory.decode_256_tokens.", table_.decode_memory_);
  }

  Status read_bytes(const std::string& path, TimingMemory& memory) {
    TROUPE_TRY_ASSIGN(memory.weights, number(root_, path + "weights_bytes"));
    TROUPE_TRY_ASSIGN(memory.activations, number(root_, path + "activations_bytes"));
    TROUPE_TRY_ASSIGN(const double nccl, number(root_, path + "nccl_bytes"));
    TROUPE_TRY_ASSIGN(const double others, number(root_, path + "others_bytes"));
    memory.buffers = nccl + others;
    return ok_status();
  }

  Status read_axes() {
    TROUPE_TRY_ASSIGN(table_.requests_, axis(root_, "prefill.axes.requests"));
    if (table_.requests_.front() <= 0) return corrupt("prefill.axes.requests begins with 0");
    for (double& n : table_.requests_) n = -1 / n;
    TROUPE_TRY_ASSIGN(table_.new_tokens_, axis(root_, "prefill.axes.new_tokens"));
    TROUPE_TRY_ASSIGN(table_.prefix_, axis(root_, "prefill.axes.prefix"));
    TROUPE_TRY_ASSIGN(table_.batch_, axis(root_, "decode.axes.batch"));
    TROUPE_TRY_ASSIGN(table_.context_, axis(root_, "decode.axes.context"));
    return ok_status();
  }

  Status read_prefill() {
    TROUPE_TRY_ASSIGN(table_.prefill_ms_, prefill_grid("prefill.step_ms"));
    TROUPE_TRY_ASSIGN(table_.prefill_attention_ms_, prefill_grid("prefill.attention_ms"));
    TROUPE_TRY_ASSIGN(const Json* planes, rows("prefill.mark", table_.requests_.size()));
    for (rapidjson::SizeType i = 0; i < planes->Size(); ++i) {
      TROUPE_TRY(read_marks((*planes)[i], "prefill.mark" + index_text(i), table_.new_tokens_.size(),
                            table_.prefix_.size(), table_.prefill_marks_));
    }
    return ok_status();
  }

  Status read_decode() {
    TROUPE_TRY_ASSIGN(table_.decode_ms_, decode_grid("decode.step_ms"));
    TROUPE_TRY_ASSIGN(table_.decode_attention_ms_, decode_grid("decode.attention_ms"));
    TROUPE_TRY_ASSIGN(const Json* marks, member(root_, "decode.mark"));
    return read_marks(*marks, "decode.mark", table_.batch_.size(), table_.context_.size(),
                      table_.decode_marks_);
  }

  Result<TimingGrid<3>> prefill_grid(const std::string& path) {
    const std::size_t n = table_.requests_.size(), q = table_.new_tokens_.size(),
                      c = table_.prefix_.size();
    std::vector<double> values;
    TROUPE_TRY_ASSIGN(const Json* planes, rows(path, n));
    for (rapidjson::SizeType i = 0; i < n; ++i) {
      TROUPE_TRY(append_rows((*planes)[i], path + index_text(i), q, c, values));
    }
    return TimingGrid<3>({n, q, c}, narrow(values));
  }

  Result<TimingGrid<2>> decode_grid(const std::string& path) {
    const std::size_t b = table_.batch_.size(), c = table_.context_.size();
    std::vector<double> values;
    TROUPE_TRY_ASSIGN(const Json* list, member(root_, path));
    TROUPE_TRY(append_rows(*list, path, b, c, values));
    return TimingGrid<2>({b, c}, narrow(values));
  }

  Status read_kv() {
    TROUPE_TRY_ASSIGN(table_.kv_context_, axis(root_, "kv.context"));
    TROUPE_TRY_ASSIGN(const Json* bytes, member(root_, "kv.bytes_per_request"));
    std::vector<double> values;
    if (table_.kv_context_.front() > 0) {
      table_.kv_context_.insert(table_.kv_context_.begin(), 0);
      values.push_back(0);
    }
    TROUPE_TRY(append_numbers(*bytes, "kv.bytes_per_request",
                              table_.kv_context_.size() - values.size(), values));
    table_.kv_bytes_ = TimingGrid<1>({values.size()}, narrow(values));
    return ok_status();
  }

  /// The file's own examples: a table that was cut or edited does not reproduce them.
  Status check_vectors() {
    TROUPE_TRY_ASSIGN(const Json* vectors, member(root_, "test_vectors"));
    if (!vectors->IsArray() || vectors->Empty()) return corrupt("test_vectors is empty");
    for (rapidjson::SizeType i = 0; i < vectors->Size(); ++i) {
      const std::string path = "test_vectors[" + std::to_string(i) + "]";
      const Json& vector = (*vectors)[i];
      TROUPE_TRY_ASSIGN(const std::string phase, text(vector, "phase"));
      TROUPE_TRY_ASSIGN(const double expected, number(vector, "expected_ms"));
      TROUPE_TRY_ASSIGN(const Json* list, member(vector, "point"));
      std::vector<double> point;
      const bool prefill = phase == "prefill";
      TROUPE_TRY(append_numbers(*list, path + ".point", prefill ? 3 : 2, point));
      if (prefill && (point[0] < 1 || point[1] < 1)) return corrupt(path + ".point is below 1");
      const double ms = prefill ? table_.prefill(point[0], point[1], point[2]).ms
                                : table_.decode(point[0], point[1]).ms;
      if (std::abs(ms - expected) <= kVectorTolerance * std::max(1.0, expected)) continue;
      return corrupt(path + " is " + std::to_string(expected) + " ms, but the table gives " +
                     std::to_string(ms) + "; the file is damaged");
    }
    return ok_status();
  }

  Result<const Json*> rows(std::string_view path, std::size_t count) {
    TROUPE_TRY_ASSIGN(const Json* list, member(root_, path));
    TROUPE_TRY(check_rows(*list, std::string(path), count));
    return list;
  }

  static Status append_rows(const Json& list, const std::string& path, std::size_t count,
                            std::size_t width, std::vector<double>& values) {
    TROUPE_TRY(check_rows(list, path, count));
    for (rapidjson::SizeType i = 0; i < count; ++i) {
      TROUPE_TRY(append_numbers(list[i], path + index_text(i), width, values));
    }
    return ok_status();
  }

  static Status read_marks(const Json& list, const std::string& path, std::size_t count,
                           std::size_t width, std::vector<std::string>& marks) {
    TROUPE_TRY(check_rows(list, path, count));
    for (rapidjson::SizeType i = 0; i < count; ++i) {
      TROUPE_TRY(check_marks(list[i], path + index_text(i), width));
      marks.emplace_back(list[i].GetString());
    }
    return ok_status();
  }

  static Status check_rows(const Json& list, const std::string& path, std::size_t count) {
    if (list.IsArray() && list.Size() == count) return ok_status();
    return corrupt(path + " is not a list of " + std::to_string(count));
  }

  const Json& root_;
  TimingTable table_;
};

Result<TimingTable> TimingTable::parse(std::string_view json) {
  if (json.size() > kFileBytesMax) return Error{Code::kTooLarge, "timing table: over 64 MiB"};
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(json.data(), json.size());
  if (document.HasParseError()) {
    return corrupt("not JSON at byte " + std::to_string(document.GetErrorOffset()) + ": " +
                   rapidjson::GetParseError_En(document.GetParseError()));
  }
  return TimingTableReader(document).read();
}

Result<TimingTable> TimingTable::load(const std::string& path) {
  std::error_code problem;
  const auto size = std::filesystem::file_size(path, problem);
  if (problem) return Error{Code::kNotFound, path + ": " + problem.message()};
  if (size > kFileBytesMax) return Error{Code::kTooLarge, path + " is over 64 MiB"};
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return Error{Code::kIo, path + " cannot be read"};
  auto table = parse(text.str());
  if (!table.ok()) return Error{table.error().code, path + ": " + table.error().message};
  return table;
}

TimedStep TimingTable::prefill(double requests, double new_tokens, double prefix) const {
  const AxisPlace n = place_on(requests_, -1 / requests, false);
  const AxisPlace q = place_on(new_tokens_, new_tokens, true);
  const AxisPlace c = place_on(prefix_, prefix, false);
  TimedStep step;
  step.ms = prefill_ms_.at({n, q, c});
  step.attention_ms = prefill_attention_ms_.at({n, q, c});
  step.mark = static_cast<TimingMark>(prefill_marks_[n.low * new_tokens_.size() + q.low][c.low]);
  step.beyond = q.above || c.above;
  return step;
}

TimedStep TimingTable::decode(double tokens, double context) const {
  const AxisPlace b = place_on(batch_, tokens, true);
  const AxisPlace c = place_on(context_, context, false);
  TimedStep step;
  step.ms = decode_ms_.at({b, c});
  step.attention_ms = decode_attention_ms_.at({b, c});
  step.mark = static_cast<TimingMark>(decode_marks_[b.low][c.low]);
  step.beyond = b.above || c.above;
  return step;
}

double TimingTable::kv_bytes(double context) const {
  return kv_bytes_.at({place_on(kv_context_, context, true)});
}

}  // namespace troupe
