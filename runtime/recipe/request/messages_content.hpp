// What may stand within a block of a Messages request: texts, images and documents.
#pragma once

#include <string>

#include "runtime/recipe/request/conversion.hpp"
#include "runtime/recipe/request/messages_shape.hpp"

namespace troupe::recipe {

/// Where an image is: as errors say it, and as its source says it.
struct MessagesPlace {
  std::string error;   ///< "messages.0.content[1]"
  std::string source;  ///< the same, or the message or result that holds it
};

/// Appends an image to the parts of `message`; false after failing.
bool read_messages_image(const MessagesSource& source, const MessagesPlace& place, Role role,
                         Conversion& conversion, std::vector<Part>& parts);

/// Appends what is shown of a document; false after failing. Compat mode shows its type only.
bool read_messages_document(const MessagesSource& source, const std::string& path,
                            Conversion& conversion, std::vector<Part>& parts);

}  // namespace troupe::recipe
