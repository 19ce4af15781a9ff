import type { JsonObject } from "../../text/json-object.ts";

/** Writes the JSON of `tools/call` params around that of the arguments. */
export class ToolParamsText {
  /** Behind the arguments: what is the same for all calls. */
  readonly #end: string;
  /** In front of them; often one tool is called many times in a row. */
  #begin = "";
  #beginOf: string | undefined;

  constructor(envelope: JsonObject | undefined) {
    this.#end = envelope === undefined ? "}" : `,"_meta":${JSON.stringify(envelope)}}`;
  }

  of(name: string, argumentsText: string): string {
    if (name !== this.#beginOf) {
      this.#begin = `{"name":${JSON.stringify(name)},"arguments":`;
      this.#beginOf = name;
    }
    return `${this.#begin}${argumentsText}${this.#end}`;
  }
}
