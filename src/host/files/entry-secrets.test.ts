import { describe, expect, it } from "vitest";

import { findSecrets, refuseSecrets } from "./entry-secrets.ts";

const signIn = {
  type: "oauth",
  authUrl: "https://auth.example.com/oauth/authorize",
  tokenUrl: "https://auth.example.com/oauth/token",
};

describe("findSecrets", () => {
  it("takes the addresses of a sign-in for what they are", () => {
    const entry = { url: "https://example.com/mcp", auth: signIn };
    expect(findSecrets(entry)).toEqual([]);
    expect(() => refuseSecrets(entry)).not.toThrow();
  });

  it("L2: finds the credentials in them, and the secret of the client", () => {
    const tokenUrl = "https://ann:hunter2-hunter2@auth.example.com/token";
    const auth = { ...signIn, tokenUrl, clientSecret: "s3cret-s3cret" };
    const found = findSecrets({ url: "https://example.com/mcp", auth });
    expect(found.map(({ path }) => path.join("."))).toEqual(["auth.tokenUrl", "auth.clientSecret"]);
  });
});
