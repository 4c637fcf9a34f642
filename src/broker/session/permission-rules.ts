/**
 * What a role may do. In every list a pattern is a text that must be met exactly, or one that ends in `*`
 * and is met by whatever begins like it: `pgc.*`, `agent:*`, `*`.
 */
export interface RoleRule {
  /**
   * `to`: `agent:<id>`, `service:<name>`, `role:<role of the agent that gets it>`, or `*` for all. Of the types, assignments
   * of work and their end (`task.assign`, `task.withdraw`, `task.finished`) are not met by `*`, only by what names them.
   */
  send: readonly { to: string; types: readonly string[] }[];
  /** Services. What the product itself offers (`lattice`, `manager.…`) is not met by `*`, only by its name. */
  offer: readonly string[];
  /** Topics. Below `agent.<id>.` each agent speaks only for itself; `presence.` and `sys.` are the broker's. */
  publish: readonly string[];
  /**
   * Types of ADMIN frames, `inbox.read`, `dead.read`, `inbox.take` for the mailboxes of others, and `agent.speak` in the
   * name of agents of the role `task`.
   */
  administer: readonly string[];
  /** What one session may say in a second; beyond it a frame is refused RATE_LIMITED. */
  framesPerS: number;
  bytesPerS: number;
}

/** By role; a field that is absent stays as it is in the table. */
export type RuleOverrides = Readonly<
  Record<string, { [Field in keyof RoleRule]?: RoleRule[Field] | undefined }>
>;

const sendsAnything = [{ to: '*', types: ['*'] }];

/** More than a local socket carries in practice: it ends a loop that runs wild, not honest work. */
const amplePerS = { framesPerS: 500_000, bytesPerS: 1024 * 1024 * 1024 };

/**
 * A role that needs no proof (`provenRoles` in src/config/keys.ts) can be claimed by anyone. Its rule
 * keeps honest programs from mistakes; only what a proven role has in addition is protected.
 */
export const defaultRules: Readonly<Record<string, RoleRule>> & { readonly '*': RoleRule } = {
  /** A human or what acts with the operator's key. */
  operator: {
    send: sendsAnything,
    offer: ['*', 'operator', 'operator.*'],
    publish: ['*'],
    administer: ['*'],
    ...amplePerS,
  },
  /**
   * Decides about the messages of others, but not about the store: a backup writes to a path on the
   * broker's disk, and a compaction costs everybody time. Both are a human's decision.
   */
  manager: {
    send: [...sendsAnything, { to: '*', types: ['task.assign', 'task.withdraw', 'task.finished'] }],
    offer: ['*', 'lattice', 'lattice.*', 'manager', 'manager.*', 'task', 'task.*', 'tasks'],
    publish: ['*'],
    administer: ['inbox.*', 'dead.*', 'agent.*'],
    ...amplePerS,
  },
  /** Reviews artifacts: it asks others about code, and answers. It is proven, for its word lets the result of a task pass. */
  critic: {
    send: sendsAnything,
    offer: ['critic'],
    publish: ['agent.*'],
    administer: [],
    ...amplePerS,
  },
  /** One run of the command line: it asks and leaves. */
  client: { send: sendsAnything, offer: [], publish: [], administer: [], ...amplePerS },
  '*': {
    send: sendsAnything,
    offer: ['*'],
    publish: ['agent.*'],
    administer: [],
    ...amplePerS,
  },
};
