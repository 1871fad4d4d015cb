import type { Approval, QuestionRequest, Thread } from "@flint/protocol";
import { approvalPrompt, escapeControls, escapeExact } from "@flint/view";
import type { CommandId, KeyPlace } from "@flint/view/commands";
import { drawApproval } from "../draw/draw-row.ts";
import { cutLine, type Line, lineOf, screenRows, span, wrapLine } from "../draw/line.ts";
import { type Look, marksFor } from "../draw/look.ts";
import type { Page, SessionContext } from "../session/context.ts";
import { ageOf } from "./age.ts";

/** Something that waits in a thread. */
interface Waiting {
  readonly thread: Thread;
  readonly approval?: Approval;
  readonly question?: QuestionRequest;
}

/** Everything that waits for the user, in all threads of all agents. Approvals are answered here; Enter opens the thread. */
export class InboxPage implements Page {
  readonly place: KeyPlace = "list";
  readonly #session: SessionContext;
  #waiting: readonly Waiting[] = [];
  #at = 0;
  #isLoaded = false;

  constructor(session: SessionContext) {
    this.#session = session;
    this.refresh();
  }

  draw(look: Look): { rows: Line[] } {
    const { between, more } = marksFor(look.unicode);
    const height = Math.max(1, look.rows - 2);
    const list = this.#waiting.map((each, index) => this.#row(each, index, look));
    const selected = this.#waiting[this.#at];
    const detail = selected === undefined ? [] : this.#detail(selected, look);
    const empty = this.#isLoaded ? "No open approvals or questions." : "Looking";
    const body = list.length === 0 ? [lineOf(empty, "dim")] : [...list, [], ...detail];
    const shown = body.slice(0, height);
    const filled = [...shown, ...Array.from({ length: height - shown.length }, (): Line => [])];
    const hint = ["Enter opens the thread", "the keys above answer", "q close"].join(between);
    const rows: Line[] = [[span("Waiting for you", "bold")], ...filled, [span(hint, "dim")]];
    return { rows: rows.map((line) => cutLine(line, look.columns - 1, more)) };
  }

  command(id: CommandId): boolean | "close" {
    const selected = this.#waiting[this.#at];
    switch (id) {
      case "listUp":
        this.#at = Math.max(0, this.#at - 1);
        return true;
      case "listDown":
        this.#at = Math.min(this.#waiting.length - 1, this.#at + 1);
        return true;
      case "listOpen":
        if (selected !== undefined) this.#session.run(() => this.#session.openThread(selected.thread.id));
        return selected === undefined ? true : "close";
      case "listClose":
        return "close";
      default:
        // The letters of lists are keys of answers here.
        return selected !== undefined && this.#answer(selected, this.#session.keymap.keys[id]);
    }
  }

  type(text: string): void {
    const selected = this.#waiting[this.#at];
    if (selected !== undefined) this.#answer(selected, [text]);
  }

  refresh(): void {
    this.#session.run(async () => {
      this.#waiting = await waitingIn(this.#session);
      this.#isLoaded = true;
      this.#at = Math.max(0, Math.min(this.#at, this.#waiting.length - 1));
    });
  }

  #answer({ thread, approval }: Waiting, keys: readonly string[]): boolean {
    if (approval === undefined) return false;
    const { choices } = approvalPrompt(approval.action, approval.suggestions);
    const choice = choices.find(({ key }) => keys.includes(key));
    if (choice === undefined) return false;
    const params = { threadId: thread.id, approvalId: approval.id, decision: choice.decision };
    this.#session.run(async () => {
      await this.#session.client.call("approval/respond", params);
      this.refresh();
    });
    return true;
  }

  #row({ thread, approval, question }: Waiting, index: number, look: Look): Line {
    const { current } = marksFor(look.unicode);
    const isSelected = index === this.#at;
    const at = approval?.requestedAtMs ?? question?.requestedAtMs ?? 0;
    const title = escapeControls(thread.name ?? thread.preview).replaceAll("\n", " ");
    return [
      span(isSelected ? `${current} ` : "  ", "cyan"),
      span(approval === undefined ? "question  " : "approval  ", "yellow"),
      span(`${escapeControls(thread.modelProvider).padEnd(9)} `, "cyan"),
      span(title, isSelected ? "bold" : undefined),
      span(`  ${ageOf(at, this.#session.now())}`, "dim"),
    ];
  }

  #detail({ thread, approval, question }: Waiting, look: Look): Line[] {
    if (approval === undefined) {
      return (question?.questions ?? []).flatMap((each) =>
        wrapLine(lineOf(escapeControls(each.question)), look.columns - 1),
      );
    }
    const prompt = approvalPrompt(approval.action, approval.suggestions);
    const choices = prompt.choices.map(
      ({ key, label, help }): Line => [
        span(`  [${key}] `, "cyan"),
        span(escapeExact(label)),
        span(`  ${escapeExact(help)}`, "dim"),
      ],
    );
    const subject = screenRows(drawApproval(prompt, look, thread.cwd), {
      ...look,
      columns: look.columns - 1,
    });
    return [...subject, [], ...choices.flatMap((line) => wrapLine(line, look.columns - 1, 6))];
  }
}

/** What waits in every thread that says so. */
async function waitingIn({ client }: SessionContext): Promise<Waiting[]> {
  const { data } = await client.listThreads({ limit: 200, sortKey: "updatedAt" });
  const threads = data.filter(({ status }) => (status.activeFlags ?? []).length > 0);
  const all = await Promise.all(threads.map((thread) => asksIn(client, thread)));
  return all.flat();
}

async function asksIn(client: SessionContext["client"], thread: Thread): Promise<Waiting[]> {
  const { approvals, questions } = await client.call("thread/attach", { threadId: thread.id, turns: 0 });
  return [
    ...approvals.map((approval) => ({ thread, approval })),
    ...questions.map((question) => ({ thread, question })),
  ];
}
