// Files that the page brings along: dropped by the user, or the sample. They go to the server's machine in pieces.
import { ApiError, uploadPiece } from "../api";
import { t } from "../i18n";
import { toast } from "../widgets/toast";
import { openDataset } from "./session";

const kPiece = 384 * 1024;

function base64(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += 0x8000) parts.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)));
  return btoa(parts.join(""));
}

/** Names without what the server does not take. */
export const plainName = (name: string): string =>
  name
    .split("/")
    .map((part) => part.replace(/[^A-Za-z0-9._+ -]/g, "_").replace(/^\.+/, ""))
    .filter((part) => part !== "")
    .join("/")
    .slice(-200);

/** Where the file is on the server's machine. */
async function upload(name: string, bytes: Uint8Array): Promise<string> {
  let path = "";
  for (let at = 0; at === 0 || at < bytes.length; at += kPiece) path = (await uploadPiece(name, at, base64(bytes.subarray(at, at + kPiece)))).path;
  return path;
}

/** Opens files by what they hold; several are one dataset, the folder `folder`. */
export async function openFiles(folder: string, files: readonly { name: string; bytes: Uint8Array }[]): Promise<void> {
  try {
    let path = "";
    for (const file of files) {
      const name = `${folder}/${plainName(file.name)}`;
      path = (await upload(name, file.bytes)).slice(0, -name.length) + folder;
    }
    if (path !== "") await openDataset(path);
  } catch (error) {
    const problem = error instanceof ApiError ? error : new ApiError(0, "internal", String(error), "");
    toast("error", problem.message, problem.hint);
  }
}

/** A small capture of two ranks that comes with the program. */
export async function openSample(): Promise<void> {
  try {
    const files = (await (await fetch("./assets/sample.json")).json()) as Record<string, string>;
    const encoder = new TextEncoder();
    await openFiles("sample", Object.entries(files).map(([name, text]) => ({ name, bytes: encoder.encode(text) })));
  } catch (error) {
    toast("error", t("start.no_sample"), String(error));
  }
}

/** The path that was dropped, as a file manager or a terminal gives it; "" if there is none. */
export function droppedPath(uris: string, text: string): string {
  const uri = uris.split(/\r?\n/).find((line) => line.startsWith("file://"));
  if (uri) return decodeURIComponent(new URL(uri).pathname);
  const line = text.trim().split(/\r?\n/)[0] ?? "";
  return line.startsWith("/") ? line : "";
}

/** Opens what was dropped on the page: a path of the server's machine, or files. */
export async function openDropped(data: DataTransfer): Promise<void> {
  const files = [...data.files];
  const path = droppedPath(data.getData("text/uri-list"), data.getData("text/plain"));
  if (path !== "") return openDataset(path);
  if (files.length === 0) return toast("error", t("start.drop_none"));
  const folder = `dropped_${Date.now().toString(36)}`;
  const read = await Promise.all(files.map(async (file) => ({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) })));
  return openFiles(folder, read);
}
