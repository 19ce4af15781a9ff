import { describe, expect, it } from "vitest";

import type { ConfigLayer, ServerConfig } from "../config/keys/server-config.ts";
import { parseServerEntry } from "../config/parse/parse-config.ts";
import { chooseEntries } from "./entries-in-force.ts";

const entry = (layer: ConfigLayer, more: object = {}, name = "s"): ServerConfig =>
  parseServerEntry(name, { command: layer, ...more }, { provenance: { layer, path: `/${layer}` } });

/** Layers of what is in force and of what waits, when these layers are approved. */
function choose(entries: readonly ServerConfig[], ...approved: readonly ConfigLayer[]) {
  const { inForce, waiting } = chooseEntries(entries, ({ provenance }) =>
    approved.includes(provenance.layer),
  );
  const layerOf = ({ provenance }: ServerConfig): ConfigLayer => provenance.layer;
  return [inForce.map(layerOf), [...waiting.values()].map(layerOf)];
}

describe("entries of one name", () => {
  const [project, ancestor, user] = [entry("project"), entry("ancestor"), entry("user")];

  it("CFG-12, L3: the nearest counts, a project's once it is approved", () => {
    expect(choose([project, ancestor, user])).toEqual([["user"], ["project"]]);
    expect(choose([project, ancestor, user], "project")).toEqual([["project"], []]);
    expect(choose([project, ancestor, user], "ancestor")).toEqual([["ancestor"], ["project"]]);
    expect(choose([entry("code"), project, user], "project")).toEqual([["code"], []]);
    expect(choose([user, entry("store")])).toEqual([["user"], []]);
  });

  it("PRM-21: where no other may start, the nearest is the server, and is pending", () => {
    expect(choose([project])).toEqual([["project"], []]);
    expect(choose([project, ancestor])).toEqual([["project"], []]);
  });

  it("CFG-12: one that switches the server off needs no approval", () => {
    expect(choose([entry("project", { enabled: false }), user])).toEqual([["project"], []]);
    expect(choose([project, entry("ancestor", { enabled: false }), user])).toEqual([
      ["ancestor"],
      ["project"],
    ]);
  });

  it("keeps names apart and in order", () => {
    const other = entry("user", {}, "other");
    expect(choose([project, user, other, entry("store", {}, "other")])).toEqual([
      ["user", "user"],
      ["project"],
    ]);
  });
});
