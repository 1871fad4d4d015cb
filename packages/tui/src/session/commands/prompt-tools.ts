import { type CommandId, commandOf } from "@flint/view/commands";
import { clipboardImage, droppedFiles, editExternally } from "../../input/index.ts";
import type { Session } from "../session.ts";

/** Lets the user edit the prompt in their own editor. */
export function editPrompt(session: Session): void {
  const { editor, notesFolder } = session.machine;
  if (editor === undefined || notesFolder === undefined) {
    session.say("No editor is configured: set VISUAL or EDITOR.");
    return;
  }
  const { machine, settings, composer } = session;
  session.run(async () => {
    const edited = await editExternally(composer.text, {
      command: editor,
      searchPath: () => machine.searchPath(settings?.cwd ?? machine.cwd),
      folder: notesFolder,
      release: () => session.terminal.release(),
      restore: () => session.terminal.restore(),
    });
    if (edited.type === "edited") composer.editor.setEdited(edited.text);
    if (edited.type === "failed") session.say(edited.problem);
  });
}

/** Puts what is written aside; with nothing written, takes back what was put aside last. */
export function toggleStash(session: Session): void {
  const { composer, help } = session;
  if (composer.isEmpty) {
    const stashed = help.stash.pop();
    if (stashed === undefined) session.say("Nothing was put aside.");
    else composer.setContent(stashed);
    return;
  }
  help.stash.push(composer.content);
  composer.clear();
  session.say(`Stashed. Press ${help.stashKey} with an empty prompt to restore it.`);
}

/** Begins to type a command, for the user to continue. What was written is put aside. */
export function typeOut(session: Session, id: CommandId): void {
  if (!session.composer.isEmpty) toggleStash(session);
  session.composer.setText(`/${commandOf(id).slash ?? ""} `);
}

/** Attaches the image of the clipboard. */
export function attachClipboard(session: Session): void {
  const { notesFolder } = session.machine;
  if (notesFolder === undefined) return;
  session.run(async () => {
    const image = await clipboardImage(notesFolder, (name) => session.machine.findProgram(name));
    if ("problem" in image) session.say(image.problem);
    else session.composer.editor.attachImage(image);
  });
}

/** Pastes text; files that were dropped into the terminal are attached or mentioned. */
export function pasteIntoComposer(session: Session, text: string): void {
  const { composer, help, machine } = session;
  const paste = (): void => {
    composer.paste(text);
    help.completer.update(composer.editor);
  };
  const context = { folder: session.settings?.cwd ?? machine.cwd, home: machine.home };
  const dropped = droppedFiles(text, context);
  // At once, so that an Enter that follows sends it.
  if (dropped === undefined) {
    paste();
    return;
  }
  session.run(async () => {
    const files = await dropped;
    if (files === undefined) return paste();
    for (const file of files) {
      if (file.kind === "image") composer.editor.attachImage(file.image);
      else composer.type(`${file.text} `);
      if (file.kind === "mention" && file.problem !== undefined) session.say(file.problem);
    }
    help.completer.update(composer.editor);
  });
}
