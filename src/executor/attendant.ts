import { FolderInspector } from '../attention/inspector.js';
import type { Policy } from '../attention/policy/policy.js';
import { type Outcome, outcome } from '../delegation/worker/runner-outcome.js';
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { classify } from '../attention/classify/classify.js';
import { reportDigest } from '../attention/gate-block.js';
import { covers, isGated, leaveFor } from '../attention/gates.js';
import type {
  ActionDigest,
  ActionInQuestion,
  Classification,
  Finding,
  Grant,
} from '../attention/shapes.js';
import { actionOf } from '../delegation/task/action.js';
import type { Assignment, DelegatedTask } from '../delegation/task/shapes.js';
import { BusError } from '../errors/bus-error.js';
import { gitBehind } from './git.js';
import { checkedEnvironment, folderBelow } from './runners/place.js';
import { wallsIn, type Sandbox } from './sandbox.js';

/** Of the text that reports a stop. */
const detailChars = 4_000;

export type Attended =
  /** It may begin now, with the task as it was judged: its folder is the real one. */
  | {
      kind: 'go';
      task: DelegatedTask;
      approved: readonly Finding[][];
      /** SHA-256 of the scripts as they were judged, by absolute path. */
      unchanged: Record<string, string>;
      /** What is worth a word to a person, and stops nothing. */
      noted: Classification | null;
    }
  | { kind: 'stop'; outcome: Outcome }
  /** Another attempt has it, or the caller has gone. */
  | { kind: 'over' };

/** Durable at the manager when it resolves to `used`. */
export type UseGrant = (grant: Grant, digest: ActionDigest) => Promise<'used' | 'refused' | 'over'>;

export interface AttendantParts {
  policy: Policy;
  root: string;
  sandbox: Sandbox;
}

/**
 * Looks at what a program would do, right before it is started (Phase 0 of the attention protocol, where the scripts lie).
 * What is risky needs leave of this task for this very action, and the leave is used up before anything begins.
 */
export class Attendant {
  readonly #parts: AttendantParts;

  constructor(parts: AttendantParts) {
    this.#parts = parts;
  }

  /** `turn`: an agent learns in its first turn what was approved. Throws ACTION_REFUSED, SANDBOX_UNAVAILABLE. */
  async attend(
    { task: given, grants }: Pick<Assignment, 'task' | 'grants'>,
    turn: number,
    use: UseGrant,
  ): Promise<Attended> {
    const task = await this.#placed(given);
    const action = actionOf(task);
    if (action === undefined) return { kind: 'go', task, approved: [], unchanged: {}, noted: null };
    const own = grants.filter((grant) => grant.task === task.id);
    let seen = await this.#classified(action);
    let leave: Grant | undefined;
    if (isGated(seen)) {
      leave = leaveFor(own, seen);
      if (leave === undefined) return stopped(seen);
      const said = await use(leave, seen.digest);
      if (said === 'over') return { kind: 'over' };
      if (said === 'refused') return stopped(seen);
      // The manager may have been away for long: what was judged is looked at once more.
      seen = await this.#classified(action);
      if (isGated(seen) && !covers(leave.digest, seen)) return stopped(seen);
    }
    const approved: Finding[][] = [];
    if (task.runner === 'agent' && turn === 1)
      for (const { grant, findings } of reportsAmong(own, task.id)) {
        const said = await use(grant, grant.digest);
        if (said === 'over') return { kind: 'over' };
        if (said === 'used') approved.push(findings);
      }
    const root = await realpath(this.#parts.root);
    const files = Object.entries(seen.digest.files);
    const unchanged = files.map(([file, sha256]) => [path.resolve(root, file), sha256] as const);
    const noted = isGated(seen) || seen.findings.length === 0 ? null : seen;
    return { kind: 'go', task, approved, unchanged: Object.fromEntries(unchanged), noted };
  }

  /** What would refuse it anyway refuses it before leave is used up. */
  async #placed(task: DelegatedTask): Promise<DelegatedTask> {
    const { action } = task;
    const { root, sandbox } = this.#parts;
    wallsIn(sandbox);
    if (action === null) return task;
    if (task.runner === 'command') checkedEnvironment(action.env);
    const folder = await folderBelow(root, action.cwd);
    // By its real name: a link that leads elsewhere by then makes another action of it.
    return { ...task, action: { ...action, cwd: path.relative(await realpath(root), folder) } };
  }

  async #classified(action: ActionInQuestion): Promise<Classification> {
    const { policy, sandbox } = this.#parts;
    const root = await realpath(this.#parts.root);
    const inspector = await FolderInspector.open(root, gitBehind(wallsIn(sandbox)));
    return classify(action, { policy, inspector, root });
  }
}

/** What the agent itself stopped at, and a person approved. */
function reportsAmong(
  grants: readonly Grant[],
  task: string,
): { grant: Grant; findings: Finding[] }[] {
  return grants.flatMap((grant) => {
    const { findings = [], used_ms, digest } = grant;
    const isOne = findings.length > 0 && reportDigest(task, findings) === digest.action;
    return used_ms === 0 && isOne ? [{ grant, findings }] : [];
  });
}

function stopped(classification: Classification): Attended {
  return { kind: 'stop', outcome: stopOf(classification) };
}

/** Nothing was started, or an agent stopped by itself. */
export function stopOf(classification: Classification, said: Partial<Outcome> = {}): Outcome {
  const { findings } = classification;
  const told = findings.map(({ signal, evidence }) => `${signal}: ${evidence}`).join('; ');
  const detail = told.length <= detailChars ? told : `${told.slice(0, detailChars - 1)}…`;
  const { code, message: text, retryable } = new BusError('GATE_DETECTED', { detail });
  const errors = [{ code, text, retryable }];
  return outcome('blocked', { ...said, reason: code, errors, classification });
}
