import { createHash } from 'node:crypto';
import { approvalKey, approvalPrefix, approvalSessionPrefix } from '../store/keys.js';
import { del, put } from '../store/operations.js';
import type { Store } from '../store/port.js';
import type { Plain, sigma } from '../wire/codec.js';
import { BusError } from '../errors/bus-error.js';
import { isSamePattern, patternKey } from './gates.js';
import { unknownEnvironment, type Classification, type Pattern } from './shapes.js';

/** How long an approval is remembered, and how many of one session. */
export const approvalMs = 12 * 3_600_000;
export const approvalsMax = 1_000;

export type Approval = Plain<sigma.attention.Approval, { pattern: Pattern }>;

/** What a person approved for a session, durable; see `patternKey` for what counts as the same. */
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
    const bytes = await this.#store.get(keyOf(session, seen.pattern));
    const found = bytes && (JSON.parse(bytes.toString()) as Approval);
    return found !== undefined && found.expires_ms > this.#nowMs() ? found : undefined;
  }

  /**
   * On disk when this resolves; what may not be remembered (an injection, an unknown environment) is not. Throws
   * LIST_FULL, STORE_UNAVAILABLE.
   */
  async remember(session: string, seen: Classification, by: string): Promise<boolean> {
    if (!isMemorable(seen)) return false;
    const nowMs = this.#nowMs();
    const key = keyOf(session, seen.pattern);
    const known = await this.list(session);
    const isNew = !known.some(({ pattern }) => isSamePattern(pattern, seen.pattern));
    if (isNew && known.length >= approvalsMax)
      throw new BusError('LIST_FULL', { what: `session ${session}`, limit: approvalsMax });
    const { pattern } = seen;
    const approval = { session, pattern, by, given_ms: nowMs, expires_ms: nowMs + approvalMs };
    await this.#store.commit([put(key, approval)]);
    return true;
  }

  /** Those that hold; empty: of all sessions. What has expired is dropped on the way. */
  async list(session = ''): Promise<Approval[]> {
    const prefix = session === '' ? approvalPrefix : approvalSessionPrefix(session);
    const approvals: Approval[] = [];
    const gone: string[] = [];
    for await (const [key, bytes] of this.#store.entries({ prefix })) {
      const approval = JSON.parse(bytes.toString()) as Approval;
      if (approval.expires_ms > this.#nowMs()) approvals.push(approval);
      else gone.push(key);
    }
    if (gone.length > 0) await this.#store.write(gone.map(del));
    return approvals;
  }

  /** Takes them back. Throws STORE_UNAVAILABLE. */
  async revoke(session: string): Promise<Approval[]> {
    const approvals = await this.list(session);
    await this.#store.commit(approvals.map((each) => del(keyOf(each.session, each.pattern))));
    return approvals;
  }
}

function isMemorable({ is_cacheable, pattern }: Classification): boolean {
  return is_cacheable && pattern.environment !== unknownEnvironment;
}

function keyOf(session: string, pattern: Pattern): string {
  const digest = createHash('sha256').update(patternKey(pattern)).digest('hex');
  return approvalKey(session, digest);
}
