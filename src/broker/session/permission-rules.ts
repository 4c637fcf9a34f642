/**
 * The rights of a role. A pattern is an exact text, or one that ends in `*`
 * and matches every text with that prefix: `pgc.*`, `agent:*`, `*`.
 */
export interface RoleRule {
  /**
   * `to`: `agent:<id>`, `service:<name>`, `role:<role of the agent that gets it>`, or `*` for all. Reserved types
   * are not covered by `*`; a rule must name them.
   */
  send: readonly { to: string; types: readonly string[] }[];
  /** Services. Reserved ones are not covered by `*`; a rule must name them. */
  offer: readonly string[];
  /** Topics. Below `agent.<id>.` each agent speaks only for itself; `presence.` and `sys.` are the broker's. */
  publish: readonly string[];
  /**
   * Types of ADMIN frames; `inbox.read`, `dead.read` and `inbox.take` for mailboxes of other agents; `agent.speak` in the
   * name of hosted agents.
   */
  administer: readonly string[];
  /**
   * Its agents are hosted: an agent that may `agent.enrol` gives them a mailbox before a process connects as them, may speak for
   * them, and dismisses them with what is in it.
   */
  isHosted: boolean;
  /** Frames and bytes of one session in a second; beyond it a frame is refused RATE_LIMITED. */
  framesPerS: number;
  bytesPerS: number;
}

/** Overrides by role; an absent field keeps its default. */
export type RuleOverrides = Readonly<
  Record<string, { [Field in keyof RoleRule]?: RoleRule[Field] | undefined }>
>;

/** What only a role whose rule names it may offer (by the part before the first dot) or send, and what only agents of the broker's home are called. */
export const reserved = {
  services: [
    ...(['critic', 'lattice', 'manager', 'operator', 'task', 'tasks'] as const),
    ...(['mine', 'shares', 'broker', 'bus', 'sys'] as const),
  ],
  /** They start or end work without a further check, or are trusted because of their sender. */
  types: ['task.assign', 'task.withdraw', 'task.finished'],
  /** Of the product's own processes whose roles others may have, too. */
  names: ['executor'],
} as const;

const sendsAnything = [{ to: '*', types: ['*'] }];

/** More than a local socket carries in practice: stops a runaway loop, not honest work. */
const amplePerS = { framesPerS: 500_000, bytesPerS: 1024 * 1024 * 1024 };
const usual = { ...amplePerS, isHosted: false };

/**
 * A role that needs no proof (`provenRoles` in src/config/keys.ts) can be claimed by anyone. Its rule
 * guards honest programs against mistakes; only the extra rights of a proven role are protected.
 */
export const defaultRules: RuleOverrides & { readonly '*': RoleRule } = {
  /** A person, or a program with the operator's key. */
  operator: {
    send: sendsAnything,
    offer: ['*', 'operator', 'operator.*'],
    publish: ['*'],
    administer: ['*'],
    ...usual,
  },
  /**
   * Manages messages of other agents, but not the store: a backup writes to a path on the
   * broker's disk, and a compaction slows every agent down. A person decides both.
   */
  manager: {
    send: [...sendsAnything, { to: '*', types: reserved.types }],
    offer: ['*', 'lattice', 'lattice.*', 'manager', 'manager.*', 'task', 'task.*', 'tasks'],
    publish: ['*'],
    administer: ['inbox.*', 'dead.*', 'agent.*'],
    ...usual,
  },
  /** Reviews artifacts. It must prove itself, because its verdict lets the result of a task pass. */
  critic: {
    send: sendsAnything,
    offer: ['critic'],
    publish: ['agent.*'],
    administer: [],
    ...usual,
  },
  /** One run of the command line. */
  client: { send: sendsAnything, offer: [], publish: [], administer: [], ...usual },
  /** A host of shards. What it mines for others goes into their index unseen; what it takes for its share others leave to it. */
  pgc: { offer: ['*', 'mine.*', 'shares.*'] },
  /** An agent of others: it is asked, and asks nothing. */
  foreign: { send: [], offer: [], publish: [] },
  /** The agent of one task. */
  task: { isHosted: true },
  '*': {
    send: sendsAnything,
    offer: ['*'],
    publish: ['agent.*'],
    administer: [],
    ...usual,
  },
};
