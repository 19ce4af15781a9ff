/** One lasting "yes": this agent may call this tool, as it was defined when it was granted. */
export interface GrantInfo {
  readonly agent: string;
  /** Undefined: no server that is configured now is started as the granted one was. */
  readonly server: string | undefined;
  /** The tool's own name, or `(content)` for the server's resources and prompts. */
  readonly tool: string;
  readonly grantedAt: number;
  /** Absent: until it is revoked. */
  readonly expiresAt?: number;
}

export interface GrantQuery {
  readonly agent?: string | undefined;
  readonly server?: string | undefined;
  readonly tool?: string | undefined;
}

export interface AllowOptions {
  readonly agent: string;
  readonly server: string;
  /**
   * Absent: every tool the server has now, except those it calls destructive, and what it offers beside
   * tools. `(content)`: only the latter, its resources and prompts.
   */
  readonly tool?: string | undefined;
  /** Whether destructive tools are granted, too, where `tool` is absent. */
  readonly includeDestructive?: boolean | undefined;
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number | undefined;
}

/** What people have allowed for good: each grant holds in every session of its agent. */
export interface Grants {
  list(query?: GrantQuery): readonly GrantInfo[];
  /** Lists the server's tools first if they are not known; resolves when the grant is kept. */
  allow(options: AllowOptions): Promise<readonly GrantInfo[]>;
  /** Revokes all that fit, and what was allowed in running sessions; gives the number of grants. */
  revoke(query?: GrantQuery): Promise<number>;
}
