import { stat } from "node:fs/promises";
import path from "node:path";

import { createError } from "../../errors/families.ts";
import { neutralizeLine } from "../../text/untrusted/neutralize.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { writeNewFile, writeOutputFile } from "../terminal/write-output-file.ts";
import { counted } from "./content-listing.ts";
import { displayPath, type Standpoint } from "./display-path.ts";

/** One piece of what a server sent: text, or bytes. */
export interface Piece {
  /** Its address or another name, from which the name of a file is made. */
  readonly name: string;
  readonly mimeType: string | undefined;
  readonly content: string | Uint8Array;
}

/** Decodes the base64 of a server. Throws `invalid_result` for what is none. */
export function decodeBase64(serverName: string, data: string): Uint8Array {
  if (!/^[\w+/\s-]*={0,2}\s*$/.test(data))
    throw createError("invalid_result", "the server sent bytes that are not base64", {
      serverName,
    });
  return Buffer.from(data, "base64");
}

/** `text/plain, 12 B` */
function describePiece({ mimeType, content }: Piece): string {
  const size = typeof content === "string" ? Buffer.byteLength(content) : content.byteLength;
  return `${mimeType ?? "unknown type"}, ${sizeText(size)}`;
}

function sizeText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  if (bytes < 1_048_576) return `${Math.round(bytes / 1_024)} KB`;
  return `${(bytes / 1_048_576).toFixed(1)} MB`;
}

/** Prints text to stdout, and bytes where they are all there is and nobody looks. Throws before anything is printed. */
export function printPieces(terminal: Terminal, pieces: readonly Piece[]): void {
  const first = pieces.find(({ content }) => typeof content !== "string");
  const [only] = pieces;
  if (first !== undefined && (pieces.length > 1 || !terminal.takesBytes))
    throw createError("invalid_arguments", `this is not text (${describePiece(first)})`, {
      hint: pieces.length > 1 ? "save it: -o <folder>/" : "save it: -o <file>",
    });
  if (only !== undefined && typeof only.content !== "string") terminal.bytes(only.content);
  else for (const { content } of pieces) if (typeof content === "string") terminal.data(content);
}

/** Saves the pieces where the user said, and tells of each file; the paths. */
export async function savePiecesTold(
  context: { readonly standpoint: Standpoint; notice(text: string): void },
  output: string,
  pieces: readonly Piece[],
): Promise<readonly string[]> {
  const { standpoint } = context;
  // A slash at the end says that a folder is meant, and `resolve` drops it.
  const target = path.resolve(standpoint.cwd, output) + (/[\\/]$/.test(output) ? path.sep : "");
  const files = await savePieces(target, pieces);
  for (const [index, piece] of pieces.entries()) {
    const file = displayPath(files[index] ?? target, standpoint);
    context.notice(`✓ ${file}: ${neutralizeLine(describePiece(piece))}`);
  }
  return files;
}

/**
 * Writes one piece to a file, or each to a file of its own in a folder: `output` is one if it exists as one or ends
 * with a slash. In a folder the names are made of what the server says, so no file is replaced there.
 */
export async function savePieces(
  output: string,
  pieces: readonly Piece[],
): Promise<readonly string[]> {
  const isFolder =
    /[\\/]$/.test(output) || (await stat(output).catch(() => undefined))?.isDirectory() === true;
  const [only] = pieces;
  if (!isFolder && pieces.length > 1)
    throw createError(
      "invalid_arguments",
      `there are ${counted(pieces.length, "content")}, and "${output}" is no folder`,
      { hint: `give a folder: -o ${output}/` },
    );
  if (!isFolder && only !== undefined) {
    await writeOutputFile(output, only.content);
    return [output];
  }
  const files: string[] = [];
  for (const piece of pieces)
    files.push(await writeNewFile(output, fileNameOf(piece), piece.content));
  return files;
}

const maxFileName = 100;
const reservedNames = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;
const extensions: Readonly<Record<string, string>> = {
  "text/plain": ".txt",
  "text/markdown": ".md",
  "text/html": ".html",
  "text/csv": ".csv",
  "application/json": ".json",
  "application/pdf": ".pdf",
  "application/zip": ".zip",
  "application/gzip": ".gz",
  "image/png": ".png",
  "image/jpeg": ".jpg",
  "image/gif": ".gif",
  "image/webp": ".webp",
  "image/svg+xml": ".svg",
  "audio/mpeg": ".mp3",
  "audio/wav": ".wav",
};

/** A name without a folder in it: the server chose what it is made of. */
export function fileNameOf({ name, mimeType, content }: Piece): string {
  const [address = ""] = name.split(/[?#]/, 1);
  const last =
    address
      .replace(/[\\/]+$/, "")
      .split(/[\\/:]/)
      .at(-1) ?? "";
  const plain = last
    .replaceAll(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[.-]+/, "")
    .replace(/[.-]+$/, "")
    .slice(0, maxFileName);
  const safe = plain === "" ? "content" : reservedNames.test(plain) ? `_${plain}` : plain;
  if (path.extname(safe) !== "") return safe;
  const fallback = typeof content === "string" ? ".txt" : ".bin";
  return safe + (extensions[mimeType?.split(";", 1)[0]?.trim().toLowerCase() ?? ""] ?? fallback);
}
