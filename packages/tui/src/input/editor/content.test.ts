import type { UserInput } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { contentOf, parseContent } from "./content.ts";
import { Editor } from "./editor.ts";

const text = (value: string): UserInput => ({ type: "text", text: value });
const local = (path: string): UserInput => ({ type: "localImage", path });

describe("an input that comes back into the editor", () => {
  const photo: UserInput = { type: "image", url: "https://example.com/photo.png" };
  const skill: UserInput = { type: "skill", name: "review" };

  test.each<[string, UserInput[]]>([
    ["text", [text("one\ntwo")]],
    [
      "images in the text",
      [text("[Image 1: a.png] and [Image 2: b.png]?"), local("/x/a.png"), local("/y/b.png")],
    ],
    ["a label that is only text", [text("what does [Image 1: a.png] mean?")]],
    ["an image without a label", [local("/x/a.png")]],
    ["parts that cannot be typed", [text("look at"), photo, skill]],
  ])("is sent as it was: %s", (_, input) => {
    const editor = new Editor();
    editor.setContent(contentOf(input));
    const sent = editor.input.filter(({ type }) => type !== "text");
    expect(sent).toEqual(input.filter(({ type }) => type !== "text"));
    const [first] = input;
    if (first?.type === "text") expect(editor.input[0]).toEqual(first);
  });

  test("shows images as attachments that can be deleted", () => {
    const editor = new Editor();
    editor.setContent(contentOf([text("see [Image 1: a.png]"), local("/x/a.png"), photo]));
    expect(editor.text).toBe("see [Image 1: a.png] [image https://example.com/photo.png]");
    editor.delete("left");
    expect(editor.input).toEqual([text("see [Image 1: a.png]"), local("/x/a.png")]);
  });
});

test("restores saved content with its folded pastes", () => {
  const editor = new Editor();
  editor.insert("before ");
  editor.paste("line\n".repeat(20));
  editor.insert("between ");
  editor.attachImage({ name: "a.png", path: "/x/a.png" });
  const other = new Editor();
  other.setContent(JSON.parse(JSON.stringify(editor.content)));
  expect(other.content).toEqual(editor.content);
  expect(other.layout(80)).toEqual(editor.layout(80));
  expect(other.input).toEqual(editor.input);
});

test("text that was edited elsewhere keeps the images whose labels are still there", () => {
  const editor = new Editor();
  editor.attachImage({ name: "a.png", path: "/x/a.png" });
  editor.attachImage({ name: "b.png", path: "/x/b.png" });
  editor.setEdited("Only [Image 2: b.png] matters.");
  expect(editor.input).toEqual([text("Only [Image 1: b.png] matters."), local("/x/b.png")]);
});

test("the size of an image is sent with it, and comes back with its input", () => {
  const editor = new Editor();
  editor.attachImage({ name: "a.png", path: "/tmp/a.png", bytes: 2048 });
  const sent = { type: "localImage", path: "/tmp/a.png", _meta: { bytes: 2048 } };
  expect(editor.input.at(-1)).toEqual(sent);
  const image = { kind: "image", name: "a.png", path: "/tmp/a.png", bytes: 2048 };
  expect(contentOf(editor.input)).toContainEqual(image);
  expect(parseContent(JSON.stringify([image]))).toEqual([image]);
});
