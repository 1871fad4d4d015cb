/** A key by its name, or text. */
type Key = { readonly type: string } | { readonly press: string };

/** One step of the story: keys, what to wait for, and the name of the picture, if there is one. */
interface Step {
  readonly keys: readonly Key[];
  readonly until: string;
  readonly name?: string;
  readonly theme?: "dark" | "light";
}

const ANSWER = `The total is right now: the prices are added instead of subtracted.

| input | before | after |
|---|---:|---:|
| \`[1, 2]\` | -3 | 3 |
| \`[]\` | 0 | 0 |

\`\`\`js
// total.js
export const total = (prices) => prices.reduce((a, b) => a + b, 0);
\`\`\`

Next I would:

1. add a test for **negative prices**
2. round to cents, see [the guide](https://example.org/money)
`;

/** The script of the model: it looks, changes a file, and explains. */
export const SCRIPT = [
  { when: "negative", parts: [{ call: "shell", input: { command: "npm install --save-dev vitest" } }] },
  {
    when: "total",
    parts: [
      { reasoning: "The test says that the total is wrong. I run it before I change anything." },
      { text: "I run the test first." },
      { call: "shell", input: { command: "node total.test.js" } },
    ],
  },
  {
    parts: [
      { text: "The prices are subtracted. One character is wrong:" },
      { call: "edit_file", input: { path: "total.js", old_text: "a - b", new_text: "a + b" } },
    ],
  },
  { parts: [{ text: ANSWER }, { usage: { inputTokens: 2140, outputTokens: 212 } }] },
];

const enter = { press: "Enter" };

/** The keys of a user, and the six screens that are worth a picture. */
export const STORY: readonly Step[] = [
  { keys: [], until: "Ask for something" },
  { keys: [{ type: "the total is wrong, fix it" }, enter], until: "[y] once", name: "approval" },
  { keys: [{ type: "y" }], until: "Change total.js", name: "change" },
  { keys: [{ type: "y" }], until: "Ask for something", name: "answer", theme: "light" },
  { keys: [{ press: "C-p" }], until: "Commands", name: "palette" },
  { keys: [{ press: "Escape" }], until: "Ask for something" },
  { keys: [{ press: "M-d" }], until: "Changes in this thread", name: "diff" },
  { keys: [{ type: "q" }], until: "Ask for something" },
  { keys: [{ type: "/new" }, enter], until: "Ask for something" },
  { keys: [{ type: "add a test for negative prices" }, enter], until: "[y] once" },
  { keys: [{ press: "C-t" }], until: "waiting for you", name: "threads" },
];
