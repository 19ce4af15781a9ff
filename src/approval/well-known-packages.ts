import { editDistance } from "../text/closest.ts";
import { skeleton } from "../text/untrusted/skeleton.ts";

/** Names that many entries hold, and that malicious packages therefore resemble. */
export const wellKnownPackages = {
  npm: [
    "@modelcontextprotocol/inspector",
    "@modelcontextprotocol/sdk",
    "@modelcontextprotocol/server-aws-kb-retrieval",
    "@modelcontextprotocol/server-brave-search",
    "@modelcontextprotocol/server-everart",
    "@modelcontextprotocol/server-everything",
    "@modelcontextprotocol/server-filesystem",
    "@modelcontextprotocol/server-gdrive",
    "@modelcontextprotocol/server-github",
    "@modelcontextprotocol/server-gitlab",
    "@modelcontextprotocol/server-google-maps",
    "@modelcontextprotocol/server-memory",
    "@modelcontextprotocol/server-postgres",
    "@modelcontextprotocol/server-puppeteer",
    "@modelcontextprotocol/server-redis",
    "@modelcontextprotocol/server-sequential-thinking",
    "@modelcontextprotocol/server-slack",
    "@playwright/mcp",
    "@upstash/context7-mcp",
    "@notionhq/notion-mcp-server",
    "@supabase/mcp-server-supabase",
    "@sentry/mcp-server",
    "@stripe/mcp",
    "@browserbasehq/mcp",
    "@azure/mcp",
    "@cloudflare/mcp-server-cloudflare",
    "@heroku/mcp-server",
    "@mongodb-js/mongodb-mcp-server",
    "@elastic/mcp-server-elasticsearch",
    "@shopify/dev-mcp",
    "@antv/mcp-server-chart",
    "chrome-devtools-mcp",
    "mongodb-mcp-server",
    "exa-mcp-server",
    "figma-developer-mcp",
    "firecrawl-mcp",
    "mcp-remote",
    "mcp-proxy",
    "supergateway",
    "tavily-mcp",
    "task-master-ai",
  ],
  pypi: [
    "mcp-server-fetch",
    "mcp-server-git",
    "mcp-server-qdrant",
    "mcp-server-sentry",
    "mcp-server-sqlite",
    "mcp-server-time",
    "mcp-atlassian",
    "mcp-proxy",
    "awslabs.aws-documentation-mcp-server",
    "awslabs.core-mcp-server",
    "blender-mcp",
    "duckduckgo-mcp-server",
    "elevenlabs-mcp",
    "markitdown-mcp",
    "minimax-mcp",
    "serena",
  ],
  image: [
    "ghcr.io/github/github-mcp-server",
    "mcp/brave-search",
    "mcp/everything",
    "mcp/fetch",
    "mcp/filesystem",
    "mcp/git",
    "mcp/github",
    "mcp/gitlab",
    "mcp/grafana",
    "mcp/memory",
    "mcp/notion",
    "mcp/playwright",
    "mcp/postgres",
    "mcp/puppeteer",
    "mcp/sequentialthinking",
    "mcp/slack",
    "mcp/sqlite",
    "mcp/stripe",
    "mcp/time",
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type PackageKind = keyof typeof wellKnownPackages;

const minLookalikeLength = 8;
/** A longer name is compared by its beginning. */
const maxNameLength = 256;

/** Finds the well-known name that this one differs from in a letter or two, or in nothing but punctuation. */
export function resembledPackage(kind: PackageKind, name: string): string | undefined {
  const known: readonly string[] = wellKnownPackages[kind];
  // For a Python index these spellings are one name.
  const official = kind === "pypi" ? name.toLowerCase().replace(/[-_.]+/g, "-") : name;
  if (known.includes(name) || known.includes(official)) return undefined;
  const wanted = plainLetters(name);
  if (wanted.length < minLookalikeLength) return undefined;
  const limit = wanted.length >= 20 ? 2 : 1;
  return known.find((candidate) => editDistance(wanted, plainLetters(candidate), limit) <= limit);
}

function plainLetters(name: string): string {
  return skeleton(name.slice(0, maxNameLength)).replace(/[^\p{L}\p{N}]/gu, "");
}
