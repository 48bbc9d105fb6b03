#include "runtime/recipe/request/images.hpp"

#include <algorithm>
#include <array>

namespace troupe::recipe {
namespace {

constexpr std::string_view kData = "data:";

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), text.begin(),
                                                    [](char a, char b) { return a == lower(b); });
}

enum : unsigned char { kNotBase64, kDigit, kPad, kSpace };

constexpr std::array<unsigned char, 256> base64_classes() {
  std::array<unsigned char, 256> classes{};
  for (int c = 'A'; c <= 'Z'; ++c) classes[static_cast<std::size_t>(c)] = kDigit;
  for (int c = 'a'; c <= 'z'; ++c) classes[static_cast<std::size_t>(c)] = kDigit;
  for (int c = '0'; c <= '9'; ++c) classes[static_cast<std::size_t>(c)] = kDigit;
  for (const char c : {'+', '/'}) classes[static_cast<std::size_t>(c)] = kDigit;
  for (const char c : {' ', '\t', '\n', '\r', '\f'}) classes[static_cast<std::size_t>(c)] = kSpace;
  classes[static_cast<std::size_t>('=')] = kPad;
  return classes;
}

bool is_image_type(std::string_view media) {
  std::string type(media);
  std::transform(type.begin(), type.end(), type.begin(), lower);
  return type == "image/webp" || type == "image/png" || type == "image/jpeg" ||
         type == "image/jpg" || type == "image/gif";
}

/// What follows "data:" must be [TYPE][;PARAMETER...];base64,CONTENT.
bool check_data(std::string_view rest, const std::string& path, const ImageWords& words,
                Issues& issues) {
  constexpr std::string_view kMark = "base64,";
  const std::size_t mark = rest.find(kMark);
  if (mark == std::string_view::npos) {
    return issues.rule(path + ": " + std::string(words.format), path);
  }
  const std::string_view head = rest.substr(0, mark);
  if (!is_image_type(head.substr(0, head.find(';')))) {
    const std::string noun(words.noun);
    return issues.rule(path + ": You have uploaded an unsupported " + noun +
                           ". Please make sure your " + noun +
                           " is valid and has one of the following formats: webp, png, jpeg, "
                           "and gif.",
                       path);
  }
  if (!is_base64(rest.substr(mark + kMark.size()))) {
    return issues.rule(path + ": Invalid base64 data", path);
  }
  return true;
}

}  // namespace

bool is_data_url(std::string_view url) {
  return starts_with_ignoring_case(url, kData);
}

bool is_base64(std::string_view text) {
  static constexpr auto kClasses = base64_classes();
  std::size_t digits = 0;
  std::size_t pads = 0;
  for (const char c : text) {
    const unsigned char kind = kClasses[static_cast<unsigned char>(c)];
    if (kind == kNotBase64 || (kind == kDigit && pads > 0)) return false;
    digits += kind == kDigit ? 1 : 0;
    pads += kind == kPad ? 1 : 0;
  }
  if (pads == 0) return digits % 4 != 1;
  return pads <= 2 && (digits + pads) % 4 == 0;
}

bool is_canonical_base64(std::string_view text) {
  constexpr std::string_view kPadding = "====";
  while (text.ends_with(kPadding)) text.remove_suffix(kPadding.size());
  if (text.size() % 4 != 0 || !is_base64(text) ||
      text.find_first_of(" \t\n\r\f") != std::string_view::npos) {
    return false;
  }
  // The last digit before one pad has two unused bits, before two pads four.
  constexpr std::string_view kTwoZeroBits = "AEIMQUYcgkosw048";
  constexpr std::string_view kFourZeroBits = "AQgw";
  if (text.ends_with("==")) return kFourZeroBits.find(text[text.size() - 3]) != text.npos;
  return !text.ends_with('=') || kTwoZeroBits.find(text[text.size() - 2]) != text.npos;
}

bool read_image_url(std::string_view url, std::string_view detail, const std::string& path,
                    const ImageWords& words, ModelVersion version, Issues& issues,
                    ImageSource& source) {
  const bool data = is_data_url(url);
  if (version != ModelVersion::kDeepseekV4) {
    if (data) {
      if (!check_data(url.substr(kData.size()), path, words, issues)) return false;
    } else if (!starts_with_ignoring_case(url, "http:") &&
               !starts_with_ignoring_case(url, "https:")) {
      return issues.rule(path + ": " + std::string(words.format), path);
    }
  }
  source.kind = data ? ImageSource::Kind::kDataUrl : ImageSource::Kind::kUrl;
  source.value = url;
  source.detail = detail.empty() ? "high" : std::string(detail);
  source.path = path;
  return true;
}

}  // namespace troupe::recipe
