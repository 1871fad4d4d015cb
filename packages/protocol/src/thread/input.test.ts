import { describe, expect, test } from "vitest";
import { inputText, UserInput } from "./input.ts";

describe("user input", () => {
  test.each([
    { type: "text", text: "Run the tests" },
    { type: "image", url: "https://example.org/a.png" },
    { type: "localImage", path: "/repo/a.png" },
  ] as const)("%j is accepted unchanged [S0-37]", (piece) => {
    expect(UserInput.parse(piece)).toEqual(piece);
  });

  test.each([
    { type: "skill", name: "review" },
    { type: "skill", name: "review", path: "/skills/review.md" },
    { type: "mention", name: "main", path: "src/main.ts" },
  ])("%j is accepted too", (piece) => {
    expect(UserInput.parse(piece)).toEqual(piece);
  });

  test.each([
    ["text that is missing", { type: "text" }, "text"],
    ["an image without a url", { type: "image", path: "/a.png" }, "url"],
    ["a local image without a path", { type: "localImage", url: "/a.png" }, "path"],
    ["an unknown kind", { type: "hologram" }, "type"],
  ])("%s is rejected, with the field named", (_name, piece, field) => {
    const paths = UserInput.safeParse(piece).error?.issues.map((issue) => issue.path.join("."));
    expect(paths).toEqual([field]);
  });

  test("is shown as text, with a line for each part and without image data", () => {
    const shown = inputText([
      { type: "text", text: "Look:" },
      { type: "image", url: "https://example.org/a.png" },
      { type: "image", url: `data:image/png;base64,${"A".repeat(1000)}` },
      { type: "localImage", path: "/repo/b.png" },
      { type: "skill", name: "review" },
      { type: "mention", name: "main", path: "src/main.ts" },
    ]);
    expect(shown.split("\n")).toEqual([
      "Look:",
      "[image https://example.org/a.png]",
      "[image]",
      "[image /repo/b.png]",
      "[skill review]",
      "@src/main.ts",
    ]);
  });
});
