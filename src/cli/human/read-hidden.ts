import { StringDecoder } from "node:string_decoder";

/** A terminal that can hand over keys before it shows them. */
export interface KeyInput extends NodeJS.ReadableStream {
  setRawMode(isRaw: boolean): unknown;
}

export function canHide(input: NodeJS.ReadableStream): input is KeyInput {
  return (input as { readonly isTTY?: boolean }).isTTY === true && "setRawMode" in input;
}

const keys = { interrupt: "\u0003", end: "\u0004", escape: "\u001B" } as const;
const erasing: ReadonlySet<string> = new Set(["\u007F", "\b"]);

/**
 * Reads one line that the terminal does not show. Undefined at the end of input and when the answer is no
 * longer wanted. The terminal hands over every key meanwhile, so Ctrl-C is passed on as the signal that it
 * is otherwise: whoever handles it withdraws the question.
 */
export function readHidden(
  input: KeyInput,
  write: (text: string) => void,
  { prompt, signal }: { readonly prompt: string; readonly signal: AbortSignal },
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const decoder = new StringDecoder("utf8");
    const typed: string[] = [];
    const end = (answer: string | undefined): void => {
      input.off("data", take);
      input.off("end", giveUp);
      signal.removeEventListener("abort", giveUp);
      input.setRawMode(false);
      input.pause();
      write("\n");
      resolve(answer);
    };
    const giveUp = (): void => end(undefined);
    const take = (chunk: Buffer | string): void => {
      const text = typeof chunk === "string" ? chunk : decoder.write(chunk);
      // Arrows and the like come whole, and mean nothing here.
      if (text.startsWith(keys.escape)) return;
      for (const key of text) {
        if (key === "\r" || key === "\n") return end(typed.join("").trim());
        if (key === keys.interrupt) return void process.kill(process.pid, "SIGINT");
        if (key === keys.end) return giveUp();
        if (erasing.has(key)) typed.pop();
        else if (key >= " ") typed.push(key);
      }
    };
    if (signal.aborted) {
      write("\n");
      resolve(undefined);
      return;
    }
    signal.addEventListener("abort", giveUp, { once: true });
    // Before the prompt: whoever types ahead is not shown, either.
    input.setRawMode(true);
    write(prompt);
    input.on("data", take);
    input.once("end", giveUp);
    input.resume();
  });
}
