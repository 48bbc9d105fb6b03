// The scripted engine's model: rows play scripts (script.hpp) with their timing and faults.
//
// A sample launch ends when the first of its rows has something to give, at the latest after
// kStepMax, so that new rows and cancels never wait long. A row whose script is missing or wrong
// fails alone; `die` fails the launch, and with it the rank.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "runtime/device/modelled_device.hpp"
#include "runtime/device/script.hpp"

namespace troupe {

class ScriptModel final : public StepModel {
 public:
  /// The longest a step waits for its rows: well under the 50 ms in which a cancel must be seen.
  static constexpr Duration kStepMax = milliseconds(5);
  /// Tokens that one step gives a row at most; longer chunks take several steps without delay.
  static constexpr std::uint32_t kTokensPerStep = 64;

  ScriptModel(std::string directory, ScriptEncoder encode)
      : directory_(std::move(directory)), encode_(std::move(encode)) {}

  Outcome forward(const StepPlan& plan, Time start) override;
  Outcome sample(const StepPlan& plan, Time start) override;
  Duration copy(std::size_t) override { return Duration(); }

 private:
  struct Player {
    Result<Script> script = Error{Code::kInternal, "no script was loaded"};
    std::size_t chunk = 0;    ///< the next to give
    std::size_t token = 0;    ///< the next inside of it
    std::optional<Time> due;  ///< when the chunk may be given; nothing: it is not its turn yet
    bool over = false;
  };

  Player& player(const StepRow& row);
  void begin(Player& player, const StepRow& row);
  /// When the row has something to give; nothing: never.
  std::optional<Time> next_due(Player& player, Time start) const;
  /// False: the script says that the device dies here.
  bool give(Player& player, Time now, RowResult& out) const;

  std::string directory_;
  ScriptEncoder encode_;
  std::vector<Player> players_;  ///< by RowId
};

}  // namespace troupe
