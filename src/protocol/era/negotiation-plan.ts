import { createError } from "../../errors/families.ts";
import type { ProtocolOptions } from "../protocol-client.ts";
import { eraOfVersion, legacyVersions, supportedVersions } from "../wire/protocol-versions.ts";

/** One way to open a conversation. */
export type Attempt = "server/discover" | "initialize";

export interface NegotiationPlan {
  /** The attempts in their order: when one is refused, the next is made. */
  readonly attempts: readonly [Attempt, ...Attempt[]];
  /** True when the second attempt starts beside the first if that meets silence. */
  readonly isHedged: boolean;
  /** The revision `initialize` offers; the server may choose another. */
  readonly offeredVersion: string;
}

/**
 * Plans the attempts from the configured revision and an earlier verdict. A verdict only changes the order:
 * a server may have been replaced since, and then the other way still works.
 */
export function planNegotiation({
  protocol,
  knownEra,
  serverName,
}: Pick<ProtocolOptions, "protocol" | "knownEra" | "serverName">): NegotiationPlan {
  const offeredVersion = legacyVersions[0];
  if (protocol === "auto") {
    if (knownEra === "legacy")
      return { attempts: ["initialize", "server/discover"], isHedged: false, offeredVersion };
    const isHedged = knownEra === undefined;
    return { attempts: ["server/discover", "initialize"], isHedged, offeredVersion };
  }
  switch (eraOfVersion(protocol)) {
    case "modern":
      return { attempts: ["server/discover"], isHedged: false, offeredVersion };
    case "legacy":
      return { attempts: ["initialize"], isHedged: false, offeredVersion: protocol };
    case undefined:
      throw createError(
        "config_invalid",
        `"protocol" must be "auto" or one of ${supportedVersions.join(", ")}`,
        { serverName, details: { supported: supportedVersions } },
      );
  }
}
