import { type Line, lineOf } from "../../draw/line.ts";
import type { RenderOptions } from "../../draw/render-options.ts";
import { Composer, type DrawnComposer } from "../../session/composer.ts";
import { closeHint, hintsIn } from "../key-name.ts";
import type { TaskAction } from "./task-actions.ts";

/** The most that a task takes at once, as the protocol has it. */
const MOST = 4000;
/** The most rows of it that are shown, and what the terminal keeps for the rest. */
const [MOST_ROWS, OTHER_ROWS] = [6, 6];

function hint(look: RenderOptions): string {
  return [
    ...hintsIn(look, [["menuAccept", "sends it"]]),
    ...closeHint(look, "menuCancel", "closes this"),
  ].join(", ");
}

/** A text that the user writes to a task: a comment, an answer, or a message to its executor. */
export class TaskReply {
  readonly action: Extract<TaskAction, { kind: "write" }>;
  readonly text = new Composer();

  constructor(action: Extract<TaskAction, { kind: "write" }>) {
    this.action = action;
  }

  /** The text that is sent. */
  get words(): string {
    return this.text.text.trim();
  }

  /** Reports whether it can be sent. */
  get isReady(): boolean {
    return this.words.length <= MOST && (this.words !== "" || !this.action.isRequired);
  }

  /** Its rows, with the cursor among them. */
  draw(look: RenderOptions): DrawnComposer {
    const most = Math.max(1, Math.min(MOST_ROWS, look.rows - OTHER_ROWS));
    const { rows, cursor } = this.text.draw(look, most, hint(look));
    const over = this.words.length - MOST;
    const head: Line =
      over > 0
        ? lineOf(`${this.action.prompt}  ${over} characters too long`, "yellow")
        : lineOf(this.action.prompt, "bold");
    return { rows: [head, ...rows], cursor: { ...cursor, row: cursor.row + 1 } };
  }
}
