/** The outcome of a message. `administered`: an ADMIN command was carried out. */
export const auditOutcomes = [
  'delivered',
  'stored',
  'published',
  'settled',
  'refused',
  'dead',
  'cancelled',
  'administered',
] as const;
export type AuditOutcome = (typeof auditOutcomes)[number];

/** One event of one message. */
export interface AuditEntry {
  /** Unix milliseconds. */
  atMs: number;
  what: AuditOutcome;
  /** Agent id. */
  from: string;
  /** Who uses that agent, as they call themselves; empty: no person does. */
  person: string;
  /** An address; for a delivery the agent that got it. */
  to: string;
  type: string;
  id: string;
  correlation: string;
  /** 0: it was never stored. */
  seq: number;
  /** Why it was refused or became a dead letter; else empty. */
  code: string;
  /** Read before `record` returns, never kept. */
  body: Uint8Array;
}

/** Records messages between agents. Never throws, never waits, and is bounded. */
export interface Audit {
  record(entry: AuditEntry): void;
}
