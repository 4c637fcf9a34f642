import { createHash } from 'node:crypto';
import { approvalKey, approvalPrefix, approvalSessionPrefix } from '../store/keys.js';
import { del, put } from '../store/operations.js';
import type { Store } from '../store/port.js';
import type { Plain, sigma } from '../wire/codec.js';
import { BusError } from '../errors/bus-error.js';
import { covers, isMemorable, patternKey } from './gates.js';
import type { ActionDigest, Classification, Pattern } from './shapes.js';

/** How long an approval is remembered, and how many of one session. */
export const approvalMs = 12 * 3_600_000;
export const approvalsMax = 1_000;

export type Approval = Plain<sigma.attention.Approval, { pattern: Pattern }>;

/** As it is stored: with the exact action, and the scripts that were shown with it. */
interface Kept extends Approval {
  digest: ActionDigest;
}

/** What a person approved for a session, durable: the very same action with the same risks. */
export class Approvals {
  readonly #store: Store;
  readonly #nowMs: () => number;

  constructor(parts: { store: Store; nowMs: () => number }) {
    this.#store = parts.store;
    this.#nowMs = parts.nowMs;
  }

  /** Undefined: it was not approved, or too long ago; or may not be remembered at all. Throws STORE_UNAVAILABLE. */
  async find(session: string, seen: Classification): Promise<Approval | undefined> {
    if (!isMemorable(seen)) return undefined;
    const bytes = await this.#store.get(keyOf(session, seen));
    const found = bytes && (JSON.parse(bytes.toString()) as Kept);
    const holds = found !== undefined && found.expires_ms > this.#nowMs();
    return holds && covers(found.digest, seen) ? found : undefined;
  }

  /**
   * On disk when this resolves; what may not be remembered (an injection, an unknown environment) is not. Throws
   * LIST_FULL, STORE_UNAVAILABLE.
   */
  async remember(session: string, seen: Classification, by: string): Promise<boolean> {
    if (!isMemorable(seen)) return false;
    const nowMs = this.#nowMs();
    const key = keyOf(session, seen);
    const isNew = (await this.#store.get(key)) === undefined;
    if (isNew && (await this.list(session)).length >= approvalsMax)
      throw new BusError('LIST_FULL', { what: `session ${session}`, limit: approvalsMax });
    const { pattern, digest, description: action } = seen;
    const times = { given_ms: nowMs, expires_ms: nowMs + approvalMs };
    const approval: Kept = { session, pattern, action, by, ...times, digest };
    await this.#store.commit([put(key, approval)]);
    return true;
  }

  /** Those that hold; empty: of all sessions. What has expired is dropped on the way. */
  async list(session = ''): Promise<Approval[]> {
    return (await this.#kept(session)).map(({ digest: _, ...approval }) => approval);
  }

  async #kept(session: string): Promise<Kept[]> {
    const prefix = session === '' ? approvalPrefix : approvalSessionPrefix(session);
    const approvals: Kept[] = [];
    const gone: string[] = [];
    for await (const [key, bytes] of this.#store.entries({ prefix })) {
      const approval = JSON.parse(bytes.toString()) as Partial<Kept> & Approval;
      // An earlier version kept no action: what it covers is not known.
      if (approval.expires_ms > this.#nowMs() && isExact(approval)) approvals.push(approval);
      else gone.push(key);
    }
    if (gone.length > 0) await this.#store.write(gone.map(del));
    return approvals;
  }

  /** Takes them back. Throws STORE_UNAVAILABLE. */
  async revoke(session: string): Promise<Approval[]> {
    const kept = await this.#kept(session);
    await this.#store.commit(kept.map((each) => del(keyOf(each.session, each))));
    return kept.map(({ digest: _, ...approval }) => approval);
  }
}

function isExact(approval: Partial<Kept> & Approval): approval is Kept {
  return approval.digest !== undefined;
}

function keyOf(session: string, { pattern, digest }: Pick<Kept, 'pattern' | 'digest'>): string {
  const exact = `${patternKey(pattern)}\0${digest.action}`;
  return approvalKey(session, createHash('sha256').update(exact).digest('hex'));
}
