// A request of several rows: one a choice, one owner, one end.
#include <set>

#include "tests/actors/request/request_driver.hpp"

namespace troupe {
namespace {

constexpr const char* kBody = "two prompts, three choices";
const std::vector<RequestId> kMore = {RequestId(101), RequestId(102), RequestId(103),
                                      RequestId(104), RequestId(105)};

TEST(RequestChoices, EachChoiceToEachPromptIsARow) {
  RequestDriver request(RequestDriver::kPreparing, kBody);
  EXPECT_EQ(request.prepares().only<PlaceRequest>(request.gateway).rows, 6u);
  const Turn turn = request.is_placed(kMore);
  EXPECT_EQ(turn.only<OpenRow>(request.streams).more_rows, kMore);
  const auto rows = turn.sent<SubmitRow>(request.rank);
  ASSERT_EQ(rows.size(), 6u);
  std::set<std::uint64_t> seeds;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].request, i == 0 ? request.id : kMore[i - 1]);
    EXPECT_EQ(rows[i].prompt.size(), i < 3 ? 3u : 2u);
    EXPECT_EQ(rows[i].prompt_length, rows[i].prompt.size());
    EXPECT_EQ(rows[i].max_tokens, i < 3 ? 16u : 5u);
    EXPECT_EQ(rows[i].min_tokens, 4u);
    seeds.insert(rows[i].sampling.seed);
  }
  EXPECT_EQ(rows[0].sampling.seed, 77u) << "the first is what a request for one gets";
  EXPECT_EQ(seeds.size(), 6u);
}

TEST(RequestChoices, ItsEndCancelsAllOfThem) {
  RequestDriver request(RequestDriver::kPreparing, kBody);
  request.prepares();
  request.is_placed(kMore);
  const Turn end = request.driver.hears(SessionGone{6}, from(request.session));
  EXPECT_EQ(request.release(end), (Release{.rows_closed = 1, .rows_cancelled = 6, .stops = true}));
}

TEST(RequestChoices, OneThatIsRejectedFailsTheRequest) {
  RequestDriver request(RequestDriver::kPreparing, kBody);
  request.prepares();
  request.is_placed(kMore);
  RowRejected rejected;
  rejected.request = kMore[2];
  const Turn failed = request.driver.hears(rejected, from(request.rank));
  EXPECT_EQ(request.release(failed), (Release{.rows_failed = 1, .rows_cancelled = 6}));
  EXPECT_TRUE(request.row_closes(CloseReason::kFailed).stops());
}

}  // namespace
}  // namespace troupe
