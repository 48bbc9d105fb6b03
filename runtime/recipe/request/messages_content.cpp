#include "runtime/recipe/request/messages_content.hpp"

#include "runtime/recipe/request/images.hpp"

namespace troupe::recipe {
namespace {

bool is_web_url(std::string_view url) {
  ImageSource ignored;
  Issues issues(Compat::kDefault);
  return !is_data_url(url) &&
         read_image_url(url, {}, {}, {}, ModelVersion::kDeepseekV41, issues, ignored);
}

}  // namespace

bool read_messages_image(const MessagesSource& source, const MessagesPlace& place, Role role,
                         Conversion& conversion, std::vector<Part>& parts) {
  const std::string_view type = source.type.value;
  Issues& issues = conversion.issues;
  const auto refuse = [&](std::string why) {
    return issues.rule(place.error + ": " + std::move(why), place.error);
  };
  ImageSource image{ImageSource::Kind::kUrl, std::string(source.url.value), "high", place.source};
  if (type == "base64") {
    image.kind = ImageSource::Kind::kDataUrl;
    image.value = "data:";
    image.value.append(source.media_type.value).append(";base64,").append(source.data.value);
  }
  if (!conversion.is_v4()) {
    if (type == "file") {
      return refuse("file_id is not supported. Pass the image as a base64 data url instead.");
    }
    if (type == "base64" && !is_canonical_base64(source.data.value)) {
      return refuse("base64 decode error");
    }
    if (type == "url" && !is_web_url(source.url.value)) {
      std::string shown;
      append_json_string(shown, source.url.value);
      return refuse("invalid url: " + shown);
    }
    if (role == Role::kAssistant) {
      return issues.rule("Image in assistant message is unsupported", place.error);
    }
  }
  parts.push_back(conversion.image_part(std::move(image)));
  return true;
}

bool read_messages_document(const MessagesSource& source, const std::string& path,
                            Conversion& conversion, std::vector<Part>& parts) {
  if (conversion.compat()) {
    const std::string_view media = source.media_type.given() ? source.media_type.value : "unknown";
    parts.emplace_back("[Unsupported document type: " + std::string(media) + "]");
    return true;
  }
  if (source.type.value == "text" && source.data.given()) {
    parts.emplace_back(std::in_place_type<std::string>, source.data.value);
    return true;
  }
  return conversion.issues.unsupported(path, "this server reads plain text documents only");
}

}  // namespace troupe::recipe
