// What is delegated in the campaign of gates: actions that write down that they were run, where no process of the
// product is asked for it, and that delete a folder each.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { linesOf } from '../tasks/boss.mjs';

/** By kind, of a hundred; what a person does about them is told in `persons.mjs`. */
const shares = {
  // Harmless: nobody is asked.
  harmless: 14,
  // Seen by the manager, in the arguments.
  shell: 10,
  remove: 8,
  // Seen by the executor, in the script.
  script: 12,
  keyed: 10,
  // By both, one after the other.
  nested: 6,
  // Modified into something harmless, or risky.
  milder: 5,
  other: 5,
  halted: 8,
  // Approved, and changed before or after that.
  early: 5,
  late: 5,
  twice: 8,
  expired: 4,
};
const kinds = Object.entries(shares).flatMap(([kind, share]) => Array(share).fill(kind));

export class Works {
  constructor(folder, below) {
    this.folder = folder;
    this.below = below;
    for (const each of ['keys', 'old', 'scripts']) mkdirSync(path.join(folder, each));
    writeFileSync(path.join(folder, 'effects'), '');
  }

  /** The next ones: one, or all of a session. */
  next(number) {
    const id = `task-${number}`;
    const chosen = this.below(120);
    if (chosen >= 112) return this.#session(id, 'withdrawn', ['a', 'b', 'c']);
    if (chosen >= 104) return this.#session(id, 'shared', ['a', 'b']);
    return [this.#work(id, kinds[chosen % kinds.length])];
  }

  /** The script of a task, as it is now. A later version does something else. */
  write(id, version) {
    const text = `${version === 'v1' ? '' : `rm -rf old/${id}-more\n`}sleep 0.2\n${runs(`$1/${version}`)}rm -rf old/${id}\nsleep 0.2\n`;
    writeFileSync(path.join(this.folder, scriptOf(id)), text);
    return createHash('sha256').update(text).digest('hex');
  }

  /** What it would be to run the action of this gate; empty: nothing that leaves a line. */
  labelOf({ versions, kind }, { task, classification }) {
    const { digest, description } = classification;
    for (const [version, sha256] of Object.entries(versions))
      if (Object.values(digest.files).includes(sha256)) return `${task}/${version}`;
    if (kind === 'remove') return `${task}/gone`;
    return new RegExp(`${task}/\\w+`).exec(description)?.[0] ?? '';
  }

  /** How often it ran. */
  runsOf(label) {
    if (!label.endsWith('/gone')) return linesOf(this.folder, label);
    return existsSync(path.join(this.folder, 'old', label.slice(0, -'/gone'.length))) ? 0 : 1;
  }

  /** Everything that the task may have run as. */
  labelsOf({ id, kind }) {
    return kind === 'remove' ? [`${id}/gone`] : ['v1', 'v2', 'm'].map((each) => `${id}/${each}`);
  }

  hasRun(work) {
    return this.labelsOf(work).some((label) => this.runsOf(label) > 0);
  }

  hasKey(id) {
    return existsSync(path.join(this.folder, 'keys', id));
  }

  /** What a person says instead. */
  direction({ id, kind }) {
    const argv = kind === 'milder' ? this.#mild(id, 'm') : shell(id, 'm');
    return JSON.stringify({ argv });
  }

  #session(id, kind, names) {
    const script = scriptOf(id);
    return names.map((name, at) => {
      const task = `${id}-${name}`;
      // All of them delete the same: an approval of one is one of all.
      const versions = { v1: this.write(id, 'v1') };
      const depends_on = kind === 'shared' && at > 0 ? [`${id}-${names[at - 1]}`] : [];
      const action = { argv: ['sh', script, task] };
      return { ...this.#task(task, kind, action), versions, session: id, depends_on };
    });
  }

  #work(id, kind) {
    mkdirSync(path.join(this.folder, 'old', id));
    const scripted = ['script', 'keyed', 'nested', 'early', 'late', 'expired'].includes(kind);
    const versions = scripted ? { v1: this.write(id, 'v1') } : {};
    if (kind === 'keyed') versions.v1 = this.#keyed(id);
    return { ...this.#task(id, kind, this.#action(id, kind)), versions, session: id };
  }

  #action(id, kind) {
    switch (kind) {
      case 'harmless':
        return { argv: this.#mild(id, 'v1') };
      case 'remove':
        return { argv: ['rm', '-rf', `old/${id}`] };
      case 'keyed':
        return { argv: ['sh', scriptOf(id), id], idempotency_key: id };
      case 'script':
      case 'early':
      case 'late':
      case 'expired':
        return { argv: ['sh', scriptOf(id), id] };
      case 'nested':
        return { argv: ['sh', '-c', `rm -rf old/${id}-outer; sh ${scriptOf(id)} ${id}`] };
      default:
        return { argv: shell(id, 'v1') };
    }
  }

  /** Done twice it has its effect once. */
  #keyed(id) {
    const text = `${runs('$1/v1')}sleep 0.3\nmkdir "keys/$SIGMA_IDEMPOTENCY_KEY" 2>/dev/null\nrm -rf old/${id}\nsleep 0.3\n`;
    writeFileSync(path.join(this.folder, scriptOf(id)), text);
    return createHash('sha256').update(text).digest('hex');
  }

  #mild(id, version) {
    const [before, after] = [this.below(400), this.below(400)];
    return ['node', 'effect.mjs', this.folder, `${id}/${version}`, `${before}`, `${after}`];
  }

  #task(id, kind, action) {
    const limits = { timeout_ms: 600_000, attempts_max: 10 };
    return { id, kind, action, limits };
  }
}

function shell(id, version) {
  const text = `sleep 0.2; echo "${id}/${version} " >> effects; rm -rf old/${id}; sleep 0.2`;
  return ['sh', '-c', text];
}

const runs = (label) => `echo "${label} " >> effects\n`;

const scriptOf = (id) => `scripts/${id}.sh`;
