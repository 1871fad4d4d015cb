import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { KeyDecoder } from "./decoder.ts";
import { type InputEvent, keyName } from "./input-event.ts";

const ESC = "\u001b";

/** Returns the events in short: the names of keys, and other events as they are. */
function short(events: readonly InputEvent[]): unknown[] {
  return events.map((event) => (event.type === "key" ? keyName(event) : event));
}

/** Decodes strings, each as one chunk, and lets what is unfinished at the end expire. */
function decode(...chunks: readonly string[]): InputEvent[] {
  const decoder = new KeyDecoder();
  const events = chunks.flatMap((chunk) => decoder.push(Buffer.from(chunk)));
  return [...events, ...(decoder.patience === undefined ? [] : decoder.expire())];
}

function keys(...chunks: readonly string[]): unknown[] {
  return short(decode(...chunks));
}

describe("keys", () => {
  test.each<[name: string, bytes: string, expected: readonly string[]]>([
    ["characters", "aé語😀", ["a", "é", "語", "😀"]],
    ["a space", " ", ["space"]],
    ["capital letters", "A", ["shift+a"]],
    [
      "control characters",
      "\u0001\u001a\u0000\u001f\n",
      ["ctrl+a", "ctrl+z", "ctrl+space", "ctrl+_", "ctrl+j"],
    ],
    ["Enter, Tab and Backspace", "\r\t\u007f", ["enter", "tab", "backspace"]],
    ["arrows", `${ESC}[A${ESC}OB${ESC}[1;5C${ESC}[1;4D`, ["up", "down", "ctrl+right", "alt+shift+left"]],
    ["Home and End of every kind", `${ESC}[H${ESC}OF${ESC}[1~${ESC}[8~`, ["home", "end", "home", "end"]],
    [
      "the other keys of the block",
      `${ESC}[2~${ESC}[3;5~${ESC}[5~${ESC}[6~`,
      ["insert", "ctrl+delete", "pageup", "pagedown"],
    ],
    [
      "function keys",
      `${ESC}OP${ESC}[15~${ESC}[24;2~${ESC}[[C${ESC}[1;2R`,
      ["f1", "f5", "shift+f12", "f3", "shift+f3"],
    ],
    ["Shift with Tab", `${ESC}[Z`, ["shift+tab"]],
    ["keys of rxvt", `${ESC}[3$${ESC}[7^${ESC}[5@`, ["shift+delete", "ctrl+home", "ctrl+shift+pageup"]],
    ["the keypad", `${ESC}Op${ESC}OM${ESC}Ok`, ["0", "enter", "+"]],
    [
      "Alt as an escape before the key",
      `${ESC}b${ESC}\r${ESC}\u007f${ESC}é`,
      ["alt+b", "alt+enter", "alt+backspace", "alt+é"],
    ],
    ["Alt with a capital letter", `${ESC}B`, ["alt+shift+b"]],
    ["Alt with Ctrl", `${ESC}\u0005`, ["ctrl+alt+e"]],
    ["Alt as an escape before a sequence", `${ESC}${ESC}[A${ESC}${ESC}OB`, ["alt+up", "alt+down"]],
    [
      "Alt with a key that begins sequences",
      `${ESC}]x${ESC}Pq${ESC}_a`,
      ["alt+]", "x", "alt+shift+p", "q", "alt+_", "a"],
    ],
  ])("%s", (_name, bytes, expected) => {
    expect(keys(bytes)).toEqual(expected);
  });

  test("inserts characters, and nothing for keys with Ctrl or Alt", () => {
    const texts = decode(`aA${ESC}a\u0001 `).map((event) => (event.type === "key" ? event.text : event));
    expect(texts).toEqual(["a", "A", undefined, undefined, " "]);
  });
});

describe("kitty's keyboard protocol and modifyOtherKeys", () => {
  test.each<[name: string, bytes: string, expected: readonly string[]]>([
    ["Escape without waiting", `${ESC}[27u`, ["escape"]],
    ["Enter with modifiers", `${ESC}[13;2u${ESC}[27;5;13~`, ["shift+enter", "ctrl+enter"]],
    ["letters with Ctrl", `${ESC}[97;5u${ESC}[97;6u${ESC}[27;5;105~`, ["ctrl+a", "ctrl+shift+a", "ctrl+i"]],
    ["Super", `${ESC}[107;9u`, ["super+k"]],
    ["letters with Shift", `${ESC}[97;2u${ESC}[97:65;2u${ESC}[49:33;2u`, ["shift+a", "shift+a", "!"]],
    ["the text that a key types", `${ESC}[97;;229u`, ["å"]],
    ["repeated keys, but not released ones", `${ESC}[97;1:2u${ESC}[97;1:3u${ESC}[1;1:3A`, ["a"]],
    ["the keypad", `${ESC}[57400u${ESC}[57414u${ESC}[57419u`, ["1", "enter", "up"]],
    ["no key for modifiers and media keys", `${ESC}[57441u${ESC}[57358;65u${ESC}[57430u`, []],
    ["no key for a code that is no character", `${ESC}[55296u${ESC}[9999999u${ESC}[1u${ESC}[133u`, []],
    ["locks do not count as modifiers", `${ESC}[97;65u${ESC}[1;129A`, ["a", "up"]],
  ])("%s", (_name, bytes, expected) => {
    expect(keys(bytes)).toEqual(expected);
  });
});

describe("the Escape key", () => {
  test("is reported when nothing has followed it", () => {
    const decoder = new KeyDecoder();
    expect(decoder.push(Buffer.from(ESC))).toEqual([]);
    expect(decoder.patience).toBeLessThanOrEqual(50);
    expect(short(decoder.expire())).toEqual(["escape"]);
    expect(decoder.patience).toBeUndefined();
  });

  test("pressed twice, however fast, is two presses", () => {
    expect(keys(ESC + ESC)).toEqual(["escape", "escape"]);
    expect(keys(ESC + ESC + ESC)).toEqual(["escape", "escape", "escape"]);
    expect(keys(`${ESC}${ESC}a`)).toEqual(["escape", "alt+a"]);
  });

  test("does not swallow the keys that stop things, however fast they follow", () => {
    expect(keys(`${ESC}\u0003${ESC}\u0004${ESC}\u001a`)).toEqual([
      ...["escape", "ctrl+c", "escape", "ctrl+d", "escape", "ctrl+z"],
    ]);
  });

  test("decodes Esc before [ or O as Alt after a timeout", () => {
    expect([keys(`${ESC}[`), keys(`${ESC}O`), keys(`${ESC}]`)]).toEqual([
      ["alt+["],
      ["alt+shift+o"],
      ["alt+]"],
    ]);
  });
});

describe("what is no key", () => {
  test.each<[name: string, bytes: string]>([
    ["half a sequence", `${ESC}[1;`],
    ["half a string", `${ESC}]11;rgb:00`],
    ["half a string and an escape", `${ESC}]11;rgb:00${ESC}`],
    ["unknown sequences", `${ESC}[99~${ESC}[5A${ESC}[?1;2;3z${ESC}[<0;10;10M${ESC}[1;999A${ESC}[201~`],
    ["unknown strings", `${ESC}]52;c;aGk=\u0007${ESC}P1$r0m${ESC}\\${ESC}_Gi=31;OK${ESC}\\`],
    ["a sequence that is far too long", `${ESC}[${"1;".repeat(5_000)}A`],
    ["a string that is far too long", `${ESC}]11;${"x".repeat(100_000)}\u0007`],
    ["8-bit controls", "\u009b1A\u0090q\u009c".replaceAll(/[1Aq]/g, "")],
  ])("%s is dropped", (_name, bytes) => {
    expect(keys(bytes)).toEqual([]);
  });

  test("the rest of a sequence that was split by a slow connection is not typed", () => {
    const decoder = new KeyDecoder();
    expect(decoder.push(Buffer.from(`${ESC}[1;`))).toEqual([]);
    expect(decoder.patience).toBeGreaterThanOrEqual(500);
    expect(short(decoder.push(Buffer.from("5A")))).toEqual(["ctrl+up"]);
  });

  test("a control character inside a sequence is pressed, and the sequence is dropped", () => {
    expect(keys(`${ESC}[1;\u0003x`)).toEqual(["ctrl+c", "x"]);
  });

  test("bytes that are not UTF-8 are dropped", () => {
    const decoder = new KeyDecoder();
    const bytes = Buffer.from([0x61, 0xff, 0xe2, 0x82, 0x62, 0xc3, 0x28]);
    expect(short(decoder.push(bytes))).toEqual(["a", "b", "("]);
  });
});

describe("answers", () => {
  const answer = (value: unknown) => ({ type: "answer", answer: value });

  test.each<[name: string, bytes: string, expected: unknown]>([
    [
      "the background colour",
      `${ESC}]11;rgb:1e1e/2020/ffff${ESC}\\`,
      answer({ about: "background", color: { red: 30, green: 32, blue: 255 } }),
    ],
    [
      "the foreground colour, with BEL and two digits",
      `${ESC}]10;rgb:ff/80/00\u0007`,
      answer({ about: "foreground", color: { red: 255, green: 128, blue: 0 } }),
    ],
    ["device attributes", `${ESC}[?62;4;22c`, answer({ about: "attributes", values: [62, 4, 22] })],
    ["the cursor position", `${ESC}[24;80R`, answer({ about: "cursor", row: 24, column: 80 })],
    ["the cursor position in the first row", `${ESC}[?1;2R`, answer({ about: "cursor", row: 1, column: 2 })],
    ["the flags of kitty's protocol", `${ESC}[?1u`, answer({ about: "keyboard", flags: 1 })],
    ["a mode", `${ESC}[?2026;2$y`, answer({ about: "mode", mode: 2026, state: 2 })],
    ["the colour scheme", `${ESC}[?997;1n`, answer({ about: "scheme", dark: true })],
    ["the name of the terminal", `${ESC}P>|tmux 3.5a${ESC}\\`, answer({ about: "name", name: "tmux 3.5a" })],
    ["focus", `${ESC}[I`, { type: "focus", focused: true }],
    ["loss of focus", `${ESC}[O`, { type: "focus", focused: false }],
  ])("%s", (_name, bytes, expected) => {
    expect(decode(`x${bytes}y`)).toEqual([...decode("x"), expected, ...decode("y")]);
  });
});

describe("a bracketed paste", () => {
  const paste = (text: string, dropped = 0) => ({ type: "paste", text, dropped });

  test("is one event, with line endings and without controls", () => {
    const pasted = `one\r\ntwo\rthree\tfour\u0003${ESC}[A`;
    expect(decode(`${ESC}[200~${pasted}${ESC}[201~\r`)).toEqual([
      paste("one\ntwo\nthree\tfour[A"),
      ...decode("\r"),
    ]);
  });

  test("of 10 MB is bounded, says how much was dropped, and takes well under a second", () => {
    const decoder = new KeyDecoder();
    const startedAt = process.cpuUsage();
    const events = decoder.push(Buffer.from(`${ESC}[200~`));
    const chunk = Buffer.from("0123456789abcdef".repeat(4_096));
    for (let sent = 0; sent < 10 * 1024 * 1024; sent += chunk.length) events.push(...decoder.push(chunk));
    events.push(...decoder.push(Buffer.from(`${ESC}[201~x`)));
    const [event, after] = events;
    expect(event?.type === "paste" ? [event.text.length, event.dropped] : event).toEqual([
      1024 * 1024,
      9 * 1024 * 1024,
    ]);
    expect(short(after === undefined ? [] : [after])).toEqual(["x"]);
    expect(process.cpuUsage(startedAt).user).toBeLessThan(1_000_000);
  });

  test("that never ends is delivered when nothing follows, and keys work again", () => {
    const decoder = new KeyDecoder();
    expect(decoder.push(Buffer.from(`${ESC}[200~half`))).toEqual([]);
    expect(decoder.patience).toBeGreaterThan(500);
    expect(decoder.expire()).toEqual([paste("half")]);
    expect(short(decoder.push(Buffer.from("\u0003")))).toEqual(["ctrl+c"]);
  });

  test("never ends in half a character where it is cut", () => {
    const text = `${"x".repeat(1024 * 1024 - 1)}😀y`;
    expect(decode(`${ESC}[200~${text}${ESC}[201~`)).toEqual([paste("x".repeat(1024 * 1024 - 1), 3)]);
  });
});

describe("any input", () => {
  const pieces = fc.constantFrom(
    ...[
      ESC,
      "[",
      "O",
      "]",
      "1",
      ";",
      "5",
      "A",
      "~",
      "u",
      "é",
      "😀",
      "\r",
      "200~",
      `${ESC}[200~`,
      `${ESC}[201~`,
    ],
    ...[`${ESC}]11;rgb:0/0/0`, "\u0007", `${ESC}\\`, "\u0003", "$", "?", "P>|x", "y", "R", "27"],
  );
  const streams = fc.oneof(
    fc.array(pieces, { maxLength: 30 }).map((all) => Buffer.from(all.join(""))),
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  );

  test("gives the same events however it is split", () => {
    fc.assert(
      fc.property(streams, fc.array(fc.nat(60), { maxLength: 12 }), (bytes, cuts) => {
        const whole = new KeyDecoder();
        const split = new KeyDecoder();
        const expected = whole.push(bytes);
        const positions = [0, ...cuts.sort((left, right) => left - right), bytes.length];
        const events = positions.flatMap((place, index) =>
          split.push(bytes.subarray(place, positions[index + 1])),
        );
        expect(events).toEqual(expected);
        expect(split.patience).toBe(whole.patience);
        expect(split.expire()).toEqual(whole.expire());
      }),
      { numRuns: 2_000 },
    );
  });

  test("never throws, and never yields control characters as text", () => {
    const controls = /[\p{Cc}\p{Cs}]/u;
    fc.assert(
      fc.property(streams, (bytes) => {
        const decoder = new KeyDecoder();
        for (const event of [...decoder.push(bytes), ...decoder.expire()]) {
          if (event.type === "key") expect(controls.test(event.key + (event.text ?? ""))).toBe(false);
          if (event.type === "paste") expect(controls.test(event.text.replaceAll(/[\n\t]/g, ""))).toBe(false);
        }
        expect(decoder.patience).toBeUndefined();
      }),
      { numRuns: 2_000 },
    );
  });
});
