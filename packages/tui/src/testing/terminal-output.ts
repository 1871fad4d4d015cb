const ALTERNATE = "?1049";

/** Modes that a session may switch on, by the sequence of each. */
const MODES: Readonly<Record<string, string>> = {
  [ALTERNATE]: "the alternate screen",
  "?2004": "bracketed paste",
  "?1004": "focus reports",
};

/** Sequences that move the cursor or change what is shown, so that they belong into a frame. */
const DRAWING = /^(?:\d*[ABCKJ]|\d+;1H|[\d;]*m)$/;
/** Asks for a mode, which shows nothing. */
const QUERY = /^\?\d+\$p$/;
/** A query or a notice, which shows nothing. */
const SILENT = /^(?:9;[^;]*|11;\?|52;c;[A-Za-z\d+/=]*|2;.*)$/s;
/** The allowed targets of links: a page, or a file with the host that has it. */
const LINK = /^8;;(?:https?:.+|file:\/\/[^/]+\/.*)?$/s;

/** A control sequence, a command to the terminal, the end of a row, text, or any other character. */
const TOKEN = new RegExp(
  [
    "\u001b\\[([<-?]?[\\d;]*[ -/]*[@-~])",
    "\u001b\\]([^\u0007\u001b]*)(?:\u0007|\u001b\\\\)",
    "(\r\n?|\n)",
    "(\\P{Cc}+)",
    "([\\s\\S])",
  ].join("|"),
  "gu",
);

/**
 * Checks what a session writes to a terminal, write by write: only sequences that are known to be harmless, each frame in
 * one synchronised update of one write, and nothing left switched on at the end.
 */
export class TerminalOutput {
  readonly problems: string[] = [];
  readonly #modes = new Set<string>();
  #isDrawn = false;
  #isInFrame = false;
  #isCursorHidden = false;
  #isLinked = false;
  #isWheelOff = false;
  #keyModes = 0;
  #titles = 0;

  /** Takes one write of a session. */
  take(text: string): void {
    for (const [whole, csi, osc, newLine, shown, other] of text.matchAll(TOKEN)) {
      if (csi !== undefined) this.#control(csi);
      else if (osc !== undefined) this.#command(osc);
      else if (newLine !== undefined || shown !== undefined) this.#show(whole);
      // The bell; any other control character is not the session's to write.
      else if (other !== "\u0007") this.#problem(`the control character ${JSON.stringify(other)}`);
    }
    if (this.#isInFrame) this.#problem("a frame that is not ended in the write that began it");
    this.#isInFrame = false;
  }

  /** The modes that are still on, which are none once the session has left the terminal. */
  get left(): string[] {
    return [
      ...[...this.#modes].map((mode) => MODES[mode] ?? mode),
      ...(this.#isCursorHidden ? ["a hidden cursor"] : []),
      ...(this.#isWheelOff ? ["a wheel that does nothing"] : []),
      ...(this.#keyModes === 0 ? [] : ["the keyboard protocol"]),
      ...(this.#titles === 0 ? [] : ["the title of the session"]),
    ];
  }

  #control(csi: string): void {
    if (DRAWING.test(csi)) this.#draw(csi);
    else if (csi === "?2026h" || csi === "?2026l") this.#frame(csi === "?2026h");
    else if (csi === "?25h" || csi === "?25l") this.#isCursorHidden = csi === "?25l";
    else if (csi === "?1007h" || csi === "?1007l") this.#isWheelOff = csi === "?1007l";
    else if (QUERY.test(csi)) return;
    else if (csi === ">1u" || csi === "<u")
      this.#keyModes = Math.max(0, this.#keyModes + (csi === "<u" ? -1 : 1));
    else if (csi === "22;2t" || csi === "23;2t")
      this.#titles = Math.max(0, this.#titles + (csi === "23;2t" ? -1 : 1));
    else if (/^\?\d+[hl]$/.test(csi)) this.#switch(csi.slice(0, -1), csi.endsWith("h"));
    else this.#problem(`the sequence CSI ${csi}`);
  }

  #draw(csi: string): void {
    // Erasing the screen or the scrollback takes from the user what other programs have written.
    if (csi.endsWith("J") && csi !== "J") this.#problem(`the sequence CSI ${csi}`);
    if (csi.endsWith("K") && csi !== "K") this.#problem(`the sequence CSI ${csi}`);
    if (!this.#isInFrame) this.#problem(`CSI ${csi} outside of a frame`);
  }

  #frame(begins: boolean): void {
    if (begins === this.#isInFrame) this.#problem(begins ? "a frame in a frame" : "the end of no frame");
    if (!begins && this.#isLinked) this.#problem("a frame with a link that is not closed");
    this.#isInFrame = begins;
    this.#isDrawn = true;
  }

  #switch(mode: string, on: boolean): void {
    if (MODES[mode] === undefined) this.#problem(`the mode ${mode}`);
    if (mode === ALTERNATE && this.#isDrawn && !this.#isInFrame)
      this.#problem(`a switch of ${MODES[mode]} outside of a frame`);
    if (on) this.#modes.add(mode);
    else this.#modes.delete(mode);
  }

  #command(osc: string): void {
    if (LINK.test(osc)) this.#isLinked = osc !== "8;;";
    else if (!SILENT.test(osc)) this.#problem(`the sequence OSC ${JSON.stringify(osc.slice(0, 40))}`);
  }

  /** A session that draws does it in frames. One that prints plain lines never begins one. */
  #show(text: string): void {
    if (this.#isDrawn && !this.#isInFrame)
      this.#problem(`${JSON.stringify(text.slice(0, 40))} outside of a frame`);
  }

  #problem(what: string): void {
    this.problems.push(`The session has written ${what}.`);
  }
}
