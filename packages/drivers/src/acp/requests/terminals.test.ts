import { describe, expect, test } from "vitest";
import { commandOf } from "./terminals.ts";

describe("the command of a terminal", () => {
  test("is shown as it would be typed", () => {
    const shown = (command: string, args: readonly string[] = []) => commandOf({ command, args }, []).shown;
    expect(shown("npm", ["test", "--", "a b"])).toBe("npm test -- 'a b'");
    expect(shown("npm test && npm run build")).toBe("npm test && npm run build");
  });

  test("is a line for a shell only without arguments", () => {
    expect(commandOf({ command: "ls -la" }, []).command).toEqual(["sh", "-c", "ls -la"]);
    expect(commandOf({ command: "ls", args: ["-la"] }, []).command).toEqual(["ls", "-la"]);
  });

  test.each([
    // Each would run a program of the agent, and look like a command that needs no approval.
    { command: "cat src/x", args: [""], shown: "'cat src/x' ''" },
    { command: "ls", args: ["-la; evil"], shown: "ls '-la; evil'" },
    { command: "A=1", args: ["ls"], shown: "'A=1' ls" },
  ])("is not shown as another one: $shown", ({ shown, ...params }) => {
    expect(commandOf(params, [])).toEqual({ command: [params.command, ...params.args], shown });
  });

  test("has its variables with it, and none whose name looks like a command", () => {
    expect(commandOf({ command: "make" }, [["FLAGS", "a b"]]).shown).toBe("FLAGS='a b' make");
    expect(() => commandOf({ command: "./evil" }, [["ls x", ""]])).toThrow(
      '"ls x" is not the name of a variable',
    );
  });
});
