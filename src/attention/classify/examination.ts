import { createHash } from 'node:crypto';
import { PathRules, placeOf, type Place } from './paths.js';
import { severityOf, type Policy } from './policy.js';
import { Rulebook } from './rulebook.js';
import type { ShellScope } from './shell-scope.js';
import type { Input, Word } from './shell.js';
import { Work, type WorkKind } from './work.js';
import {
  attentionLimits,
  type ActionInQuestion,
  type Finding,
  type Inspector,
  type Severity,
  type Signal,
} from '../shapes.js';

/** Of a command, where it is shown or compared with what was found. */
const shownChars = 4_000;

/** Where a command stands: in the action itself, in a script, on another machine. */
export interface Spot {
  scope: ShellScope;
  input: Input;
  output?: () => Promise<string | undefined>;
  /** Script below the root; empty: the action itself. */
  file: string;
  /** Its effects are not below the root, and its files cannot be read. */
  remote: boolean;
  /** What it is started by, outermost first. */
  via: readonly string[];
  /** Files and folders that the build file makes in which it stands. */
  makes?: ReadonlySet<string>;
}

export interface Seen {
  signal: Signal;
  rule: string;
  /** The command, or what else was seen. */
  words: readonly Word[] | string;
  spot: Spot;
  /** What is said of it in words, when the name of the rule does not. */
  says?: string;
  severity?: Severity | undefined;
  irreversible?: boolean | undefined;
  /** Its effect is on files below the root. */
  local?: boolean | undefined;
  tool?: string;
  target?: string;
}

/** A finding before promotion. */
export interface Draft extends Finding {
  isIrreversible: boolean;
  isLocal: boolean;
  tool: string;
  target: string;
}

export interface ExaminationParts {
  action: ActionInQuestion;
  policy: Policy;
  inspector?: Inspector | undefined;
  /** Absolute; absolute paths below it are inside. */
  root?: string | undefined;
  /** Told every step. */
  explain?: ((step: string) => void) | undefined;
  /** Counts what is looked at. */
  work?: Work | undefined;
}

/** One action under examination: what was found so far, what was read, how much is left of the limits. */
export class Examination {
  readonly action: ActionInQuestion;
  readonly policy: Policy;
  readonly book: Rulebook;
  readonly paths: PathRules;
  readonly inspector: Inspector | undefined;
  readonly root: string | undefined;
  readonly drafts: Draft[] = [];
  /** Beyond the limit of findings. */
  dropped = 0;
  readonly files: Record<string, string> = {};
  /** Of commands in which something was found. */
  readonly words = new Set<string>();
  readonly variables = new Map<string, string>();
  /** What the action itself writes, by path; undefined: not known what. */
  readonly written = new Map<string, string | undefined>();
  readonly #explain: ((step: string) => void) | undefined;
  readonly #seen = new Set<string>();
  readonly #texts = new Map<string, string | undefined>();
  readonly #tracked = new Map<string, boolean>();
  readonly #work: Work;
  #commands = 0;
  #depth = 0;
  #scripts = 0;
  #isExhausted = false;
  #isTooLarge = false;

  constructor({ action, policy, inspector, root, explain, work }: ExaminationParts) {
    this.action = action;
    this.policy = policy;
    this.inspector = inspector;
    this.root = root;
    this.book = Rulebook.of(policy);
    this.paths = new PathRules(policy.paths);
    this.#explain = explain;
    this.#work = work ?? new Work();
    for (const [name, value] of Object.entries(action.env)) this.variables.set(name, value);
  }

  step(text: string | (() => string)): void {
    this.#explain?.(typeof text === 'string' ? text : text());
  }

  /** The same rule about the same words is one finding. */
  found(seen: Seen): void {
    const { signal, rule, words, spot, severity, irreversible, local } = seen;
    const text = shortTextOf(words);
    const key = JSON.stringify([signal, rule, text, spot.file]);
    if (this.#seen.has(key)) return;
    if (this.drafts.length >= attentionLimits.findings) {
      this.dropped += 1;
      return;
    }
    this.#seen.add(key);
    this.#mark(words);
    const isIrreversible = irreversible ?? signal === 'Irreversibility';
    const path = [...spot.via, ...(spot.file === '' ? [] : [spot.file])];
    const via = path.length === 0 ? '' : ` (in ${path.join(' › ')})`;
    const [tool, target] = typeof words === 'string' ? [text, ''] : this.#subject(words);
    this.step(`${signal} by ${rule}: ${text}${via}`);
    this.drafts.push({
      signal,
      severity: severityOf(this.policy, signal, severity),
      evidence: cut(`${text}${via}`, attentionLimits.evidenceChars),
      action_description: cut(
        `${seen.says ?? rule.replaceAll('-', ' ')}: ${text}`,
        attentionLimits.descriptionChars,
      ),
      rule,
      file: spot.file,
      isIrreversible,
      isLocal: local === true && !spot.remote,
      tool: seen.tool ?? tool,
      target: placed(seen.target ?? target, spot),
    });
  }

  /** What cannot be seen through is a risk that cannot be told: fail closed. */
  opaque(rule: string, words: readonly Word[] | string, spot: Spot, says?: string): void {
    this.found({
      ...{ signal: 'Emergent', rule, words, spot, irreversible: true },
      ...(says !== undefined && { says }),
    });
  }

  mayGoOn(): boolean {
    if (this.#isTooLarge) return false;
    this.#commands += 1;
    return this.#commands <= attentionLimits.commands || this.#exhausted('too-many-commands');
  }

  /** False: more than is looked at of one action; that is found, and nothing further is. */
  spend(kind: WorkKind, count: number): boolean {
    return this.#work.spend(kind, count) || this.tooLarge();
  }

  tooLarge(): false {
    this.#isTooLarge = true;
    return this.#exhausted('too-large');
  }

  enter(): boolean {
    if (this.#depth >= attentionLimits.depth) return this.#exhausted('too-deep');
    this.#depth += 1;
    return true;
  }

  leave(): void {
    this.#depth -= 1;
  }

  place(text: string, spot: Spot): Place {
    return placeOf(text, spot.scope.cwd, this.root);
  }

  /** Undefined: it cannot be read, or not here. What was read below the root is part of the digest. */
  async read(word: Word, spot: Spot): Promise<string | undefined> {
    if (word.content !== undefined) return word.content;
    if (!word.isStatic || word.isGlob === true || spot.remote) return undefined;
    const place = this.place(word.text, spot);
    if (place.kind === 'unknown') return undefined;
    if (place.path === '/dev/null') return '';
    if (this.written.has(place.path)) return this.written.get(place.path);
    if (place.kind === 'outside') return undefined;
    return await this.readInside(place.path);
  }

  async readInside(path: string): Promise<string | undefined> {
    if (this.inspector === undefined) return undefined;
    const isKnown = Object.hasOwn(this.files, path);
    if (!isKnown && this.#scripts >= attentionLimits.scripts) {
      this.#exhausted('too-many-scripts');
      return undefined;
    }
    // What is judged and what the digest stands for are the same reading of it.
    if (!this.#texts.has(path) && this.#texts.size < attentionLimits.commands)
      this.#texts.set(path, await this.inspector.read(path));
    const text = this.#texts.get(path);
    if (text === undefined || Buffer.byteLength(text) > attentionLimits.scriptBytes)
      return undefined;
    if (!this.spend('chars', text.length)) return undefined;
    if (isKnown) return text;
    this.#scripts += 1;
    this.files[path] = createHash('sha256').update(text).digest('hex');
    this.step(`read ${path}`);
    return text;
  }

  /** Beyond the limit of questions nothing counts as tracked: what cannot be told is not taken back. */
  async isTracked(path: string): Promise<boolean> {
    if (this.inspector === undefined) return false;
    const known = this.#tracked.get(path);
    if (known !== undefined || this.#tracked.size >= attentionLimits.tracked) return known ?? false;
    const isTracked = await this.inspector.isTracked(path);
    this.#tracked.set(path, isTracked);
    return isTracked;
  }

  #exhausted(rule: string): false {
    if (this.#isExhausted) return false;
    this.#isExhausted = true;
    const { commands, depth, scripts, chars, words, steps } = attentionLimits;
    const limits =
      `at most ${commands} commands, ${depth} levels, ${scripts} scripts, ${chars} characters, ` +
      `${words} words, ${steps} expansions are looked at`;
    this.drafts.push({
      ...{ signal: 'Emergent', severity: 'Gate', rule, file: '', tool: rule, target: '' },
      ...{ evidence: limits, action_description: `${rule.replaceAll('-', ' ')}: ${limits}` },
      ...{ isIrreversible: true, isLocal: false },
    });
    return false;
  }

  /** Words that may name where the effect is: of a host, of a container. */
  mark(words: readonly Word[]): void {
    this.#mark(words);
  }

  #mark(words: readonly Word[] | string): void {
    if (typeof words === 'string') return;
    for (const { text } of words.slice(1))
      if (this.words.size < attentionLimits.commands) this.words.add(text);
  }

  /** `git push` and `origin main`. */
  #subject(words: readonly Word[]): [tool: string, target: string] {
    const given = this.book.read(words);
    const [program, first] = given.operands;
    const name = program?.text ?? '';
    const hasWords = first !== undefined && /^[a-z][a-z0-9:_-]*$/.test(first.text);
    const isSplit = hasWords && !this.book.isHarmlessWhole(given) && first.isStatic;
    const isLocal = this.book.matches(given).some(({ rule }) => rule.local && name !== 'git');
    const from = isSplit && !isLocal ? 2 : 1;
    const tool = from === 2 ? `${name} ${first?.text ?? ''}` : name;
    return [
      tool,
      given.operands
        .slice(from)
        .map(({ text }) => text)
        .join(' '),
    ];
  }
}

/** The same words in another folder, or on another machine, have another target. */
function placed(target: string, { scope, remote, via }: Spot): string {
  const machine = remote ? via.join(' › ') : '';
  const where = [machine, scope.cwd ?? 'an unknown folder'].filter((each) => each !== '');
  return where.length === 0 ? target : `${where.join(' ')}: ${target}`;
}

export function textOf(words: readonly Word[]): string {
  return words
    .map(({ text }) => (/^[\w@%+=:,./~{}$-]+$/.test(text) ? text : JSON.stringify(text)))
    .join(' ');
}

/** Enough to tell one from another, and to be shown. */
function shortTextOf(words: readonly Word[] | string): string {
  if (typeof words === 'string') return cut(words, shownChars);
  let left = shownChars;
  const shown: Word[] = [];
  for (const each of words) {
    if (left <= 0) break;
    shown.push({ ...each, text: cut(each.text, left) });
    left -= each.text.length + 1;
  }
  return textOf(shown);
}

export function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 1)}…`;
}

/** A word that is known. */
export function word(text: string): Word {
  return { text, isStatic: true };
}

/** Something is on its input, and nobody has read it. */
export const unreadInput: Input = { kind: 'pipe', output: () => Promise.resolve(undefined) };

/** What is on its input: none, or what is not known. */
export async function inputOf(
  spot: Spot,
  exam: Examination,
): Promise<{ kind: 'none' } | { kind: 'unknown' } | { kind: 'text'; text: string }> {
  const { input } = spot;
  if (input.kind === 'none') return { kind: 'none' };
  if (input.kind === 'text') return { kind: 'text', text: input.word.text };
  const text = input.kind === 'pipe' ? await input.output() : await exam.read(input.path, spot);
  return text === undefined ? { kind: 'unknown' } : { kind: 'text', text };
}
