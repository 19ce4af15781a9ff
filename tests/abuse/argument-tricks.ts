type Arguments = Record<string, unknown>;

/** Arguments of one call in the hands of somebody who goes on changing them. */
export interface TrickedArguments {
  readonly args: Arguments;
  /** Makes something else of them, as far as that is possible; may be called at any time. */
  change(value: string): void;
  /** They say one thing until they are changed, and so it is known what was given. */
  readonly isSteady: boolean;
}

/** `turn`: how often arguments that are never the same twice are read before they turn. */
export type Trick = (nonce: string, turn: number) => TrickedArguments;

function honestArguments(nonce: string): Arguments {
  return { nonce, path: "allowed", where: { deep: { path: "allowed" } }, list: ["allowed"] };
}

/** An object that looks like one of another realm: its prototype has none itself. */
function withPrototype(own: Arguments, prototype: object): Arguments {
  return Object.assign(Object.create(prototype) as Arguments, own);
}

/** Something to say that changes once it has been said so often. */
function turning(turn: number): () => string {
  let said = 0;
  return () => {
    said += 1;
    return said <= turn ? "allowed" : `turned-${said}`;
  };
}

/** Every way for an object to say one thing now and another later. */
export const argumentTricks: Readonly<Record<string, Trick>> = {
  "a value is replaced": (nonce) => {
    const args = honestArguments(nonce);
    return { args, isSteady: true, change: (value) => void (args["path"] = value) };
  },

  "a value inside is replaced": (nonce) => {
    const deep = { path: "allowed" };
    const args = { ...honestArguments(nonce), where: { deep } };
    return { args, isSteady: true, change: (value) => void (deep.path = value) };
  },

  "a list grows": (nonce) => {
    const list = ["allowed"];
    const args = { ...honestArguments(nonce), list };
    return { args, isSteady: true, change: (value) => void list.push(value) };
  },

  "a list is replaced from within": (nonce) => {
    const list = ["allowed", "also"];
    const args = { ...honestArguments(nonce), list };
    return { args, isSteady: true, change: (value) => void list.splice(0, 1, value) };
  },

  "a key is added": (nonce) => {
    const args = honestArguments(nonce);
    return { args, isSteady: true, change: (value) => void (args[value] = value) };
  },

  "a key is taken away": (nonce) => {
    const args = { ...honestArguments(nonce), safe: true };
    return { args, isSteady: true, change: () => void delete (args as Arguments)["safe"] };
  },

  "all but the inside is frozen": (nonce) => {
    const deep = { path: "allowed" };
    const args = Object.freeze({ ...honestArguments(nonce), where: Object.freeze({ deep }) });
    return { args, isSteady: true, change: (value) => void (deep.path = value) };
  },

  "a value becomes a getter": (nonce) => {
    const args = honestArguments(nonce);
    return {
      args,
      isSteady: true,
      change: (value) =>
        void Object.defineProperty(args, "path", {
          configurable: true,
          enumerable: true,
          get: () => value,
        }),
    };
  },

  "a frozen object's prototype learns toJSON": (nonce) => {
    const prototype = Object.create(null) as Arguments;
    const args = Object.freeze(withPrototype(honestArguments(nonce), prototype));
    return {
      args,
      isSteady: true,
      change: (value) =>
        void (prototype["toJSON"] = () => ({ ...honestArguments(nonce), path: value })),
    };
  },

  "toJSON nobody sees": (nonce, turn) => {
    const args = honestArguments(nonce);
    const say = turning(turn);
    const toJSON = (): Arguments => ({ ...honestArguments(nonce), path: say() });
    Object.defineProperty(args, "toJSON", { enumerable: false, value: toJSON });
    return { args, isSteady: false, change: () => {} };
  },

  "toJSON of a prototype": (nonce, turn) => {
    const say = turning(turn);
    const prototype = Object.assign(Object.create(null) as object, {
      toJSON: () => ({ ...honestArguments(nonce), path: say() }),
    });
    const args = withPrototype(honestArguments(nonce), prototype);
    return { args, isSteady: false, change: () => {} };
  },

  "toJSON of a list": (nonce, turn) => {
    const say = turning(turn);
    const list = Object.assign(["allowed"], { toJSON: () => [say()] });
    return { args: { ...honestArguments(nonce), list }, isSteady: false, change: () => {} };
  },

  "toJSON that gives no object": (nonce, turn) => {
    const args = honestArguments(nonce);
    const says = ["text", 7, null, undefined, ["allowed"]];
    const toJSON = (): unknown => says[turn % says.length];
    Object.defineProperty(args, "toJSON", { enumerable: false, value: toJSON });
    return { args, isSteady: false, change: () => {} };
  },

  "a getter": (nonce, turn) => {
    const args = honestArguments(nonce);
    const path = { configurable: true, enumerable: true, get: turning(turn) };
    Object.defineProperty(args, "path", path);
    return { args, isSteady: false, change: () => {} };
  },

  "a getter inside": (nonce, turn) => {
    const deep = Object.defineProperty({}, "path", { enumerable: true, get: turning(turn) });
    const args = { ...honestArguments(nonce), where: { deep } };
    return { args, isSteady: false, change: () => {} };
  },

  "a getter that ends in an error": (nonce, turn) => {
    const args = honestArguments(nonce);
    const say = turning(turn);
    const get = (): string => {
      const said = say();
      if (said !== "allowed") throw new Error("read too often");
      return said;
    };
    Object.defineProperty(args, "path", { enumerable: true, get });
    return { args, isSteady: false, change: () => {} };
  },

  "a proxy whose values change": (nonce, turn) => {
    const say = turning(turn);
    const args = new Proxy(honestArguments(nonce), {
      get: (target, key) => (key === "path" ? say() : Reflect.get(target, key)),
    });
    return { args, isSteady: false, change: () => {} };
  },

  "a proxy whose keys change": (nonce, turn) => {
    const say = turning(turn);
    const args = new Proxy(honestArguments(nonce), {
      ownKeys: (target) =>
        say() === "allowed" ? Reflect.ownKeys(target) : [...Reflect.ownKeys(target), "bcc"],
      getOwnPropertyDescriptor: (target, key) =>
        Reflect.getOwnPropertyDescriptor(target, key) ?? {
          configurable: true,
          enumerable: true,
          value: "turned",
        },
      get: (target, key) => (key === "bcc" ? "turned" : Reflect.get(target, key)),
    });
    return { args, isSteady: false, change: () => {} };
  },
};
