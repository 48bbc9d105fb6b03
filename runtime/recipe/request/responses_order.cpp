#include "runtime/recipe/request/responses_order.hpp"

#include <string_view>
#include <unordered_map>

namespace troupe::recipe {
namespace {

bool is_call(std::string_view type) {
  return type == "function_call" || type == "custom_tool_call" || type == "tool_search_call";
}

bool is_output(std::string_view type) {
  return type == "function_call_output" || type == "custom_tool_call_output" ||
         type == "tool_search_output";
}

class Order {
 public:
  explicit Order(const List<ResponsesItem>& items) : items_(items), taken_(items.size()) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      const ResponsesItem& item = items[i].value;
      if (is_output(item.type.value)) outputs_.try_emplace(item.call_id.value, i);
    }
  }

  std::vector<std::size_t> take() {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (!taken_[i]) read(i);
    }
    return std::move(order_);
  }

 private:
  void read(std::size_t at) {
    const ResponsesItem& item = items_[at].value;
    if (!is_call(item.type.value) && !is_output(item.type.value)) close_calls();
    taken_[at] = true;
    order_.push_back(at);
    if (is_call(item.type.value)) open_.push_back(item.call_id.value);
  }

  void close_calls() {
    for (const std::string_view id : open_) {
      const auto output = outputs_.find(id);
      if (output == outputs_.end() || taken_[output->second]) continue;
      taken_[output->second] = true;
      order_.push_back(output->second);
    }
    open_.clear();
  }

  const List<ResponsesItem>& items_;
  std::vector<bool> taken_;
  std::unordered_map<std::string_view, std::size_t> outputs_;  // the first of each id
  std::vector<std::string_view> open_;                         // calls since the last other item
  std::vector<std::size_t> order_;
};

}  // namespace

std::vector<std::size_t> reading_order(const List<ResponsesItem>& items) {
  return Order(items).take();
}

}  // namespace troupe::recipe
