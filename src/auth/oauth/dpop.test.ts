import { describe, expect, it } from "vitest";

import { systemClock } from "../../ports/clock.ts";
import { DpopProofs } from "../../testing/authorization/dpop-proofs.ts";
import { thumbprintOf } from "../../testing/authorization/signed-jwt.ts";
import { createDpopKey, openDpopKey } from "./dpop.ts";

const url = "https://api.example.com/mcp?key=1";
const request = { htm: "POST", htu: new URL(url), accessToken: "token" };

describe("a key that tokens are bound to", () => {
  it("AUT-14: signs proofs for one request and one token each", async () => {
    const { session, jwk } = await createDpopKey();
    const proofs = new DpopProofs(systemClock, false);
    const [one, other] = [await session.buildProof(request), await session.buildProof(request)];
    const proven = { method: "POST", url, accessToken: "token" };
    expect(proofs.check({ ...proven, proof: one })).toEqual({ thumbprint: thumbprintOf(jwk) });
    expect(proofs.check({ ...proven, proof: other })).toHaveProperty("thumbprint");
    for (const wrong of [
      { ...proven, method: "GET" },
      { ...proven, url: "https://api.example.com/other" },
      { ...proven, accessToken: "another" },
    ])
      expect(proofs.check({ ...wrong, proof: await session.buildProof(request) })).toMatchObject({
        error: "invalid_dpop_proof",
      });
  });

  it("AUT-14: is the same one when it comes back from the vault", async () => {
    const { jwk } = await createDpopKey();
    const { session } = await openDpopKey(JSON.parse(JSON.stringify(jwk)) as typeof jwk);
    const proof = await session.buildProof(request);
    const proofs = new DpopProofs(systemClock, false);
    expect(proofs.check({ method: "POST", url, accessToken: "token", proof })).toEqual({
      thumbprint: thumbprintOf(jwk),
    });
  });

  it("AUT-08: shows nothing of itself in a proof", async () => {
    const { session, jwk } = await createDpopKey();
    const proof = await session.buildProof(request);
    const header = Buffer.from(proof.split(".")[0] ?? "", "base64url").toString();
    expect(jwk["d"]).toMatch(/^\S{40,}$/);
    expect(header).not.toContain(String(jwk["d"]));
    expect(JSON.parse(header)).not.toHaveProperty("jwk.d");
  });

  it("AUT-14: repeats the nonce that a server wants", async () => {
    const { session } = await createDpopKey();
    const proofs = new DpopProofs(systemClock, true);
    const check = async (): Promise<object> =>
      proofs.check({
        method: "POST",
        url,
        accessToken: "token",
        proof: await session.buildProof(request),
      });
    expect(await check()).toMatchObject({ error: "use_dpop_nonce" });
    session.rememberNonce(new URL(url), proofs.nonce ?? "");
    expect(await check()).toHaveProperty("thumbprint");
  });
});
