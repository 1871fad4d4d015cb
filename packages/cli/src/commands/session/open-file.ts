import { spawn } from "node:child_process";
import { mkdir, realpath, writeFile } from "node:fs/promises";
import { extname, join, resolve } from "node:path";
import { outsideEnvironment, outsideProgram } from "@flint/server/config";

/** The kinds of files that are opened. Others, such as a launcher with a picture's name, could run a program. */
const IMAGES = [".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".avif", ".heic"];
const DATA_URL = /^data:image\/(?<type>[a-z]+);base64,/i;

/** The program that opens images, and the folders for them. */
export interface ImageViewer {
  /** Paths are below this folder if they are not absolute. */
  readonly cwd: string;
  /** The folder into which the bytes of a `data:` URL are written. */
  readonly folder: string;
  /** The program, for tests; that of the desktop by default. */
  readonly program?: string | undefined;
}

/**
 * Opens an image with the program of the desktop for it, without a shell. Gives the path or address that was opened. Rejects
 * with a sentence if it is not an image or cannot be opened.
 */
export async function openImage(source: string, viewer: ImageViewer): Promise<string> {
  const target = /^https?:\/\//i.test(source) ? new URL(source).href : await imageFile(source, viewer);
  await started(viewer.program ?? (await desktopProgram(viewer.cwd)), target, viewer.cwd);
  return target;
}

/** The desktop's own program; never one of the project, which could be anything. */
async function desktopProgram(cwd: string): Promise<string> {
  const name = process.platform === "darwin" ? "open" : "xdg-open";
  const { path, leftOut } = await outsideProgram(name, cwd);
  if (path !== undefined) return path;
  const other = leftOut === undefined ? "" : ` ${leftOut} is not used, because it is in a project.`;
  throw new Error(`To open images, install ${name}.${other}`);
}

async function imageFile(source: string, { cwd, folder }: ImageViewer): Promise<string> {
  const type = DATA_URL.exec(source)?.groups?.type?.toLowerCase();
  if (type !== undefined) {
    if (!IMAGES.includes(`.${type}`)) throw new Error(`Images of type ${type} are not opened.`);
    return written(Buffer.from(source.slice(source.indexOf(",") + 1), "base64"), type, folder);
  }
  if (source.startsWith("data:")) throw new Error("This image has no type that can be opened.");
  const path = resolve(cwd, source);
  const real = await realpath(path).catch(() => {
    throw new Error(`${path} does not exist on this machine.`);
  });
  if (!IMAGES.includes(extname(real).toLowerCase()))
    throw new Error(`${real} is not opened, because its name is not that of an image.`);
  return real;
}

async function written(bytes: Buffer, type: string, folder: string): Promise<string> {
  const { createHash } = await import("node:crypto");
  const name = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  const path = join(folder, "images", `${name}.${type}`);
  await mkdir(join(folder, "images"), { recursive: true, mode: 0o700 });
  await writeFile(path, bytes, { mode: 0o600 });
  return path;
}

/** Viewers may stay open; a program that ends with an error has opened nothing. */
function started(program: string, target: string, cwd: string): Promise<void> {
  // The opener of a desktop is often a script, which starts others by their names.
  const env = outsideEnvironment([cwd]);
  const child = spawn(program, [target], { env, stdio: "ignore", detached: true });
  child.unref();
  return new Promise((done, reject) => {
    const failed = (why: string) => reject(new Error(`${program} could not open it (${why}): ${target}`));
    child.once("error", ({ message }) => failed(message));
    child.once("exit", (code) => (code === 0 ? done() : failed(`exit code ${code}`)));
    child.once("spawn", () => setTimeout(done, STARTED_MS).unref());
  });
}

/** A program that still runs after this long shows the image. */
const STARTED_MS = 2_000;
