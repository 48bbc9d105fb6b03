#include "actors/pd/image_table.hpp"

namespace troupe {

void ImageTable::begin(RequestId request, std::span<const SimulatedImage> images,
                       std::uint32_t from, Duration time_left, const ActorRef& balancer,
                       Context& context, Effects& out) {
  Flow flow;
  flow.first = next_ + 1;
  flow.begun = context.now;
  for (const SimulatedImage& image : images) {
    if (image.end <= from) continue;
    images_.insert(++next_, Image{request, {}, 0, 0});
    out.send(balancer, make_message<EncodeImage>(context.self, next_, image.width, image.height,
                                                 time_left, request));
  }
  flow.end = next_ + 1;
  flow.left = flow.end - flow.first;
  if (flow.left > 0) flows_.insert(request, std::move(flow));
}

std::optional<RequestId> ImageTable::chosen(const EncoderChosen& chosen, Effects& out) {
  Image* const image = images_.find(chosen.image);
  if (image == nullptr) return std::nullopt;
  if (image->machine) {
    out.count("troupe_images_encoded_again_total");
    out.send(image->machine, make_message<StopEncode>(chosen.image));
  }
  image->machine = chosen.encoder;
  image->gpu = chosen.gpu;
  image->patches = chosen.patches;
  out.send(image->machine, make_message<EncodePatches>(chosen.image, image->gpu, image->patches));
  return image->request;
}

std::optional<RequestId> ImageTable::encoded(std::uint32_t number, const ActorRef& balancer,
                                             Context& context, Effects& out) {
  const Image* const image = images_.find(number);
  if (image == nullptr || context.from != image->machine) return std::nullopt;
  const RequestId request = image->request;
  release(number, balancer, context, out);
  Flow& flow = flows_.at(request);
  if (--flow.left > 0) return std::nullopt;
  out.observe("troupe_image_wait_seconds", (context.now - flow.begun).seconds());
  flows_.erase(request);
  return request;
}

std::optional<RequestId> ImageTable::refused(std::uint32_t number) {
  const auto request = request_of(number);
  if (!request) return std::nullopt;
  images_.erase(number);
  if (--flows_.at(*request).left == 0) flows_.erase(*request);
  return request;
}

void ImageTable::abandon(RequestId request, const ActorRef& balancer, Context& context,
                         Effects& out) {
  if (!waits(request)) return;
  const Flow flow = flows_.at(request);
  for (std::uint32_t number = flow.first; number != flow.end; ++number) {
    const Image* const image = images_.find(number);
    if (image == nullptr) continue;
    if (image->machine) out.send(image->machine, make_message<StopEncode>(number));
    release(number, balancer, context, out);
  }
  flows_.erase(request);
}

bool ImageTable::ask_again(RequestId request, Effects& out) {
  bool any = false;
  const Flow& flow = flows_.at(request);
  for (std::uint32_t number = flow.first; number != flow.end; ++number) {
    const Image* const image = images_.find(number);
    if (image == nullptr || !image->machine) continue;
    any = true;
    out.send(image->machine, make_message<EncodePatches>(number, image->gpu, image->patches));
  }
  return any;
}

std::optional<RequestId> ImageTable::request_of(std::uint32_t number) const {
  const Image* const image = images_.find(number);
  if (image == nullptr) return std::nullopt;
  return image->request;
}

void ImageTable::release(std::uint32_t number, const ActorRef& balancer, Context& context,
                         Effects& out) {
  images_.erase(number);
  out.send(balancer, make_message<ImageEncoded>(context.self, number));
}

}  // namespace troupe
