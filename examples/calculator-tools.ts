// The tools of the server "calculator", for use with Plugboard. Generated: do not edit.
import { createToolClient, type Session, type ToolClient } from "plugboard";

/** Returns the message it was given. */
export interface CalculatorEchoParams {
  /** The text to return */
  readonly message: string;
}

export type CalculatorEchoResult = unknown;

/** Returns the current date and time. */
export type CalculatorGetTimeParams = Readonly<Record<string, unknown>>;

export type CalculatorGetTimeResult = unknown;

/** Adds two numbers. */
export interface CalculatorAddParams {
  /** First number */
  readonly a: number;
  /** Second number */
  readonly b: number;
}

export type CalculatorAddResult = unknown;

/** Each tool by its own name on the server. */
export interface CalculatorTools {
  /** Returns the message it was given. */
  readonly echo: {
    readonly params: CalculatorEchoParams;
    readonly result: CalculatorEchoResult;
  };
  /** Returns the current date and time. */
  readonly get_time: {
    readonly params: CalculatorGetTimeParams;
    readonly result: CalculatorGetTimeResult;
  };
  /** Adds two numbers. */
  readonly add: {
    readonly params: CalculatorAddParams;
    readonly result: CalculatorAddResult;
  };
}

export type CalculatorClient = ToolClient<CalculatorTools>;

/** The tools as methods; calls take the same guarded path as `session.call`. */
export function calculator(session: Session): CalculatorClient {
  return createToolClient<CalculatorTools>(session, "calculator", ["echo", "get_time", "add"]);
}
