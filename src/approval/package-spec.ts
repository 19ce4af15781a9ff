import { editDistance } from "../text/closest.ts";
import { skeleton } from "../text/skeleton.ts";
import { wellKnownPackages } from "./well-known-packages.ts";

export type PackageKind = keyof typeof wellKnownPackages;

/** What a command such as `npx` would fetch and run. */
export interface FoundPackage {
  readonly kind: PackageKind;
  /** As it is written, with its version. */
  readonly spec: string;
  readonly name: string;
  /** Absent when the newest one is taken. */
  readonly version?: string;
  /** Whether every start runs the same release. */
  readonly isPinned: boolean;
  /** The well-known name that this one is almost. */
  readonly resembles?: string;
}

const exactRelease = /^v?\d+(?:\.\d+)*(?:[-+.]?[A-Za-z][\w.+-]*|[-+][\w.+-]+)?$/;
const commitHash = /[@#][0-9a-f]{40}$/i;

/** What a name with or without a version stands for, and whether it will tomorrow. */
export function describePackage(kind: PackageKind, spec: string): FoundPackage {
  const { name, version, isPinned } = splitSpec(kind, spec);
  const resembles = lookalike(kind, name);
  return {
    kind,
    spec,
    name,
    ...(version === undefined ? {} : { version }),
    isPinned,
    ...(resembles === undefined ? {} : { resembles }),
  };
}

interface SplitSpec {
  readonly name: string;
  readonly version: string | undefined;
  readonly isPinned: boolean;
}

function splitSpec(kind: PackageKind, spec: string): SplitSpec {
  if (kind === "image") {
    const [tagged = "", digest] = spec.split("@");
    const tagAt = tagged.indexOf(":", tagged.lastIndexOf("/") + 1);
    const name = tagAt === -1 ? tagged : tagged.slice(0, tagAt);
    const tag = tagAt === -1 ? undefined : tagged.slice(tagAt + 1);
    // A tag can be moved to another image; a digest cannot.
    return { name, version: digest ?? tag, isPinned: /^sha256:[0-9a-f]{64}$/.test(digest ?? "") };
  }
  if (isAddress(spec)) return { name: spec, version: undefined, isPinned: commitHash.test(spec) };
  const pattern =
    kind === "npm" ? /^(@?[^@]+)(?:@(.*))?$/s : /^([\w.-]+)(?:\[[^\]]*\])?(?:(?:===?|@)(.*)|.+)?$/s;
  const [, name = spec, version] = pattern.exec(spec) ?? [];
  // An npm release has three numbers; fewer are a range.
  const isWhole = kind === "pypi" || /^v?\d+\.\d+\.\d+/.test(version ?? "");
  const isPinned = version !== undefined && isWhole && exactRelease.test(version);
  return { name, version: version === "" ? undefined : version, isPinned };
}

/** `github:user/repo`, `git+https://…`, a tarball: whoever holds the address decides what it gives. */
function isAddress(spec: string): boolean {
  return /^[a-z+]+:/i.test(spec) || /^[^@][^/@]*\/[^/]+$/.test(spec);
}

const minLookalikeLength = 8;
/** Longer ones resemble nothing. */
const maxNameLength = 256;

/** The well-known name that differs in a letter or two, or in nothing but punctuation. */
function lookalike(kind: PackageKind, name: string): string | undefined {
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
