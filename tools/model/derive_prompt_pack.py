"""Derives a prompt pack by asking the reference implementation.

  python3 derive_prompt_pack.py SITE OUT     SITE: a folder with the package deepseek-recipe 0.2.0

`troupe model pull deepseek-v4` runs it once, at set-up, in a folder of its own that is thrown away.
The texts that DeepSeek's models were trained to read around a conversation belong to them, so they are
not in our repository: we render conversations whose own words are marks (QQ...) and keep what stands
between the marks.

The pack is one JSON object {"v4": {...}, "v4.1": {...}}, UTF-8, with these members a version:

  effort_low, effort_high, effort_max   text before the system text, by reasoning effort
  tools_head, tools_sep, tools_tail     around the schema lines of the tools
  json_object, json_schema_head         the section of the response format (then the schema)
  required_suffix                       what opens the tool block in the model's stead
  calls_example, results_example        an assistant turn with two calls QQN, QQM, and their results
                                        (for tests; nothing is made from them)
     each of these: {"text": ..., "special_byte_ranges": [[begin, end], ...]}
     A range is one control token; offsets count the UTF-8 bytes of the text.
  apply_patch_tool                      the function tool that stands for the custom tool apply_patch:
                                        {"name", "description", "parameters", "strict"}
  unsupported_image_v4                  what V4 shows for an image
  unsupported_document_responses        what is shown for an input_file of Responses
  messages_mid_system                   V4 only: [before, after] a later system message of Messages
  updated_tools_head                    V4.1 only: before schema lines of tools loaded on the way

Members of "parameters" keep the order in which the model is shown them. The output is
deterministic; its SHA-256 is pinned in catalogue.cpp.
"""

import json
import sys

MODELS = {"v4": "DeepSeek-V4-Pro", "v4.1": "DeepSeek-V4.1-Flash"}
USER = {"role": "user", "content": "QQUSER json"}
SYSTEM = {"role": "system", "content": "QQSYSTEM"}
OFF = {"thinking": {"type": "disabled"}}
PNG = ("data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwAD"
       "hgGAWjR9awAAAABJRU5ErkJggg==")


def function_tool(name):
    return {"type": "function", "function": {"name": name}}


class Reference:
    """The reference implementation, asked about one model version."""

    def __init__(self, package, version):
        encodings = {"v4": package.DeepseekV4Encoding, "v4.1": package.DeepseekV41Encoding}
        self.package = package
        self.model = MODELS[version]
        self.encoding = encodings[version]()

    def convert(self, body, protocol="ChatCompletionRequest"):
        request = getattr(self.package, protocol)({"model": self.model, **body})
        return request.convert(self.package.ConversionOptions())

    def render(self, body, protocol="ChatCompletionRequest"):
        return self.encoding.render_conversation(self.convert(body, protocol).conversation)


def cut(rendered, before, after):
    """The part between two marks (None: to the end), with the control tokens that lie in it."""
    prompt = rendered.prompt
    begin = prompt.index(before) + len(before)
    end = len(prompt) if after is None else prompt.index(after, begin)

    def offset(place):
        return len(prompt[begin:place].encode())

    ranges = [[offset(first), offset(last)] for first, last in rendered.special_ranges
              if begin <= first and last <= end]
    return {"text": prompt[begin:end], "special_byte_ranges": ranges}


def special(rendered, number):
    """The spelling of the control token with this number in the prompt."""
    first, last = rendered.special_ranges[number]
    return rendered.prompt[first:last]


def system_sections(ask):
    out = {}
    for effort in ("low", "high", "max"):
        rendered = ask.render({"messages": [SYSTEM, USER], "reasoning_effort": effort})
        # The head: the control tokens that the prompt begins with.
        head, place = "", 0
        for first, last in rendered.special_ranges:
            if first != place:
                break
            head, place = rendered.prompt[:last], last
        out["effort_" + effort] = cut(rendered, head, SYSTEM["content"])
    user = special(ask.render({"messages": [USER], **OFF}), 1)
    plain = {"messages": [SYSTEM, USER], **OFF}
    tools = [function_tool("QQONE"), function_tool("QQTWO")]
    rendered = ask.render({**plain, "tools": tools})
    schema = '"%s", "description": "", "parameters": {}}'
    out["tools_head"] = cut(rendered, SYSTEM["content"], '{"name": "QQONE"')
    out["tools_sep"] = cut(rendered, schema % "QQONE", '{"name": "QQTWO"')
    out["tools_tail"] = cut(rendered, schema % "QQTWO", user)
    rendered = ask.render({**plain, "response_format": {"type": "json_object"}})
    out["json_object"] = cut(rendered, SYSTEM["content"], user)
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}
    rendered = ask.render({**plain, "response_format": form})
    out["json_schema_head"] = cut(rendered, SYSTEM["content"], '{"type": "object"}')
    plain_end = ask.render({**plain, "tools": tools}).prompt[-20:]
    rendered = ask.render({**plain, "tools": tools, "tool_choice": "required"})
    out["required_suffix"] = cut(rendered, plain_end, None)
    return out


def examples(ask):
    def call(identity, name, arguments):
        function = {"name": name, "arguments": arguments}
        return {"id": identity, "type": "function", "function": function}

    turn = {"role": "assistant", "content": "QQANSWER",
            "tool_calls": [call("c", "QQN", '{"QQP":"QQV"}'), call("d", "QQM", "{}")]}
    results = [{"role": "tool", "tool_call_id": "c", "content": "QQR"},
               {"role": "tool", "tool_call_id": "d", "content": "QQS"}]
    rendered = ask.render({"messages": [USER, turn, *results], **OFF})
    end = special(ask.render({"messages": [USER, {"role": "assistant", "content": "a"}, USER], **OFF}),
                  -4)
    return {"calls_example": cut(rendered, turn["content"], end),
            "results_example": cut(rendered, end, None)}


def replacements(ask):
    """What stands for things that are not shown as they are."""
    out = {}
    patch = {"input": "x", "reasoning": {"effort": "none"},
             "tools": [{"type": "custom", "name": "apply_patch"}]}
    constraint = ask.convert(patch, "ResponsesRequest").inference_options.output_constraint
    out["apply_patch_tool"] = json.loads(constraint.schema)[0]["function"]
    file = {"type": "input_file", "filename": "f.pdf", "file_data": "data:application/pdf;base64,QQ=="}
    around = [{"type": "input_text", "text": "QQA"}, file, {"type": "input_text", "text": "QQB"}]
    body = {"input": [{"role": "user", "content": around}], "reasoning": {"effort": "none"}}
    rendered = ask.render(body, "ResponsesRequest")
    out["unsupported_document_responses"] = cut(rendered, "QQA\n\n", "\n\nQQB")["text"]
    return out


def image_of_v4(ask):
    image = {"type": "image_url", "image_url": {"url": PNG}}
    parts = [{"type": "text", "text": "QQA"}, image, {"type": "text", "text": "QQB"}]
    rendered = ask.render({"messages": [{"role": "user", "content": parts}], **OFF})
    return cut(rendered, "QQA\n\n", "\n\nQQB")["text"]


def mid_system_of_v4(ask):
    texts = [("user", "QQA"), ("system", "QQMID"), ("user", "QQB")]
    body = {"max_tokens": 9, "messages": [{"role": role, "content": text} for role, text in texts]}
    rendered = ask.render({**body, **OFF}, "MessagesRequest")
    return [cut(rendered, "QQA\n\n", "QQMID")["text"], cut(rendered, "QQMID", "\n\nQQB")["text"]]


def updated_tools_of_v41(ask):
    later = {"name": "QQLATER", "input_schema": {"type": "object"}, "defer_loading": True}
    now = {"name": "QQNOW", "input_schema": {"type": "object"}}
    addition = {"type": "tool_addition", "tool": {"type": "tool_reference", "name": "QQLATER"}}
    body = {"max_tokens": 9, "tools": [now, later], "messages": [
        {"role": "user", "content": "QQA"},
        {"role": "system", "content": [{"type": "text", "text": "QQMID"}, addition]},
        {"role": "user", "content": "QQB"}]}
    rendered = ask.render({**body, **OFF}, "MessagesRequest")
    return cut(rendered, "QQMID", '{"name": "QQLATER"')["text"]


def derive(package):
    pack = {}
    for version in MODELS:
        ask = Reference(package, version)
        pack[version] = {**system_sections(ask), **examples(ask), **replacements(ask),
                         "unsupported_image_v4": image_of_v4(Reference(package, "v4"))}
    pack["v4"]["messages_mid_system"] = mid_system_of_v4(Reference(package, "v4"))
    pack["v4.1"]["updated_tools_head"] = updated_tools_of_v41(Reference(package, "v4.1"))
    return pack


def main():
    site, out = sys.argv[1:3]
    sys.path.insert(0, site)
    import deepseek_recipe  # only there is it, once the path is known
    with open(out, "w", encoding="utf-8") as file:
        json.dump(derive(deepseek_recipe), file, ensure_ascii=False, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
