import { createHash } from 'node:crypto';
import { allowanceFor, allowingLine, partsOf } from '../policy/allow.js';
import type { Word } from '../policy/command-pattern.js';
import { severityOf, type Policy } from '../policy/policy.js';
import { Rulebook } from '../policy/rulebook.js';
import {
  attentionLimits,
  type ActionInQuestion,
  type Finding,
  type Inspector,
  type Sight,
  type Severity,
  type Signal,
} from '../shapes.js';
import { PathRules, placeOf, type Place } from './paths.js';
import type { Folder, Input } from './shell.js';

/** Of a command, where it is shown or compared with what was found. */
const shownChars = 4_000;
/** Of a command in the line of a policy that would allow it. */
const lineChars = 240;

/** Where a command stands. */
export interface Site {
  folder: Folder;
  input: Input;
  /** What it is started by, outermost first. */
  via: readonly string[];
}

export interface Seen {
  signal: Signal;
  rule: string;
  /** The command, or what else was seen. */
  words: readonly Word[] | string;
  site: Site;
  /** Why it is risky, when the name of the rule does not say it. */
  says?: string | undefined;
  severity?: Severity | undefined;
  irreversible?: boolean | undefined;
  /** Its effect is on files below the root. */
  local?: boolean | undefined;
  /** Script below the root that it runs. */
  file?: string | undefined;
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
  inspector?: Inspector | 'elsewhere' | undefined;
  /** Absolute; absolute paths below it are inside. */
  root?: string | undefined;
  /** Called with every step. */
  explain?: ((step: string) => void) | undefined;
}

/** One action under examination: what was found so far, what was read, how much is left of the limits. */
export class Examination {
  readonly action: ActionInQuestion;
  readonly policy: Policy;
  readonly book: Rulebook;
  readonly paths: PathRules;
  readonly inspector: Inspector | undefined;
  /** Its files are looked at by who runs it, which judges it again. */
  readonly isLookedAtLater: boolean;
  readonly root: string | undefined;
  readonly drafts: Draft[] = [];
  /** Beyond the limit of findings. */
  dropped = 0;
  /** What the policy allowed, and why. */
  readonly allowed: string[] = [];
  /** SHA-256 of the scripts that it runs, by path. */
  readonly files: Record<string, string> = {};
  /** Of commands in which something was found. */
  readonly words = new Set<string>();
  readonly variables = new Map<string, string>();
  /** Paths below the root that it writes. */
  readonly written = new Set<string>();
  readonly #explain: ((step: string) => void) | undefined;
  readonly #seen = new Set<string>();
  readonly #tracked = new Map<string, boolean>();
  readonly #looks = new Map<string, Sight | undefined>();
  #commands = 0;
  #chars = 0;
  #depth = 0;
  #isExhausted = false;

  constructor({ action, policy, inspector, root, explain }: ExaminationParts) {
    this.action = action;
    this.policy = policy;
    this.inspector = inspector === 'elsewhere' ? undefined : inspector;
    this.isLookedAtLater = inspector === 'elsewhere';
    this.root = root;
    this.book = Rulebook.of(policy);
    this.paths = new PathRules(policy.paths);
    this.#explain = explain;
    for (const [name, value] of Object.entries(action.env)) this.variables.set(name, value);
  }

  step(text: string | (() => string)): void {
    this.#explain?.(typeof text === 'string' ? text : text());
  }

  /** The same rule about the same words is one finding. */
  found(seen: Seen): void {
    const { signal, rule, words, site, severity, irreversible, local, file = '' } = seen;
    const text = shortTextOf(words);
    const key = JSON.stringify([signal, rule, text, file]);
    if (this.#seen.has(key)) return;
    if (this.drafts.length >= attentionLimits.findings) {
      this.dropped += 1;
      return;
    }
    this.#seen.add(key);
    this.mark(words);
    const via = site.via.length === 0 ? '' : ` (in ${site.via.join(' › ')})`;
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
      file,
      isIrreversible: irreversible ?? signal === 'Irreversibility',
      isLocal: local === true,
      tool: seen.tool ?? tool,
      target: placed(seen.target ?? target, site),
    });
  }

  /** What cannot be judged is asked about: fail closed. */
  opaque(rule: string, words: readonly Word[] | string, site: Site, says: string): void {
    this.found({ signal: 'Emergent', rule, words, site, irreversible: true, says });
  }

  /** The same of a command that a policy may allow: its finding says by which line. */
  opaqueCommand(rule: string, words: readonly Word[], site: Site, why: string, file = ''): void {
    const line = allowingLine(words, site.folder.cwd);
    // No policy allows what a command is fed.
    const isShown = line !== '' && line.length <= lineChars && site.input.kind === 'none';
    const hint = !isShown ? '' : `; to allow it, a policy says ${line}`;
    const says = `cannot be judged: ${why}${hint}`;
    this.found({ signal: 'Emergent', rule, words, site, irreversible: true, says, file });
  }

  /** Whether a policy that a person wrote allows this opaque command. */
  async isAllowed(words: readonly Word[], site: Site): Promise<boolean> {
    const { cwd } = site.folder;
    // A row says nothing of what a command is fed.
    if (site.input.kind !== 'none' || cwd === undefined) return false;
    const isInside = (text: string): boolean => this.place(text, site).kind === 'inside';
    const folder = isInside('.') ? cwd : undefined;
    const found = allowanceFor(words, folder, this.policy.allow, isInside);
    if (found === undefined) return false;
    for (const { text } of words)
      for (const part of found.command.includes(text) ? [] : partsOf(text))
        if ((await this.realPlace(part, site)).kind !== 'inside') return false;
    this.allowed.push(found.why);
    this.step(() => `allowed by the policy: ${found.why}: ${textOf(words)}`);
    return true;
  }

  /** Whether one of these files, or a folder above it, was written by this action before, under any of its names. */
  async hasWritten(files: readonly string[], site: Site): Promise<boolean> {
    if (this.written.size === 0) return false;
    for (const text of files)
      for (const place of [this.place(text, site), await this.realPlace(text, site)])
        if (place.kind === 'inside' && isWithinAny(place.path, this.written)) return true;
    return false;
  }

  /** Counts one command, with its text. */
  mayGoOn(chars = 0): boolean {
    if (this.#isExhausted) return false;
    this.#commands += 1;
    this.#chars += chars;
    if (this.#commands > attentionLimits.commands) return this.exhausted('too-many-commands');
    return this.#chars <= attentionLimits.chars || this.exhausted('too-large');
  }

  enter(): boolean {
    if (this.#depth >= attentionLimits.depth) return this.exhausted('too-deep');
    this.#depth += 1;
    return true;
  }

  leave(): void {
    this.#depth -= 1;
  }

  place(text: string, { folder }: Site): Place {
    return placeOf(text, folder.cwd, this.root);
  }

  /** The same with links followed. */
  async realPlace(text: string, site: Site): Promise<Place> {
    const place = this.place(text, site);
    if (place.kind !== 'inside') return place;
    const parts = text.split('/');
    for (const [at, part] of parts.entries()) {
      const above = this.place(parts.slice(0, at).join('/'), site);
      if (part !== '..' || above.kind !== 'inside') continue;
      const seen = await this.look(above.path);
      // `link/..` is above what the link leads to.
      if (seen !== undefined && seen.path !== above.path) return { kind: 'unknown' };
    }
    const seen = await this.look(place.path);
    if (seen === undefined) return place;
    return seen.path === undefined
      ? { kind: 'outside', path: place.path }
      : { kind: 'inside', path: seen.path };
  }

  async look(path: string): Promise<Sight | undefined> {
    if (this.#looks.has(path)) return this.#looks.get(path);
    if (this.inspector?.look === undefined) return undefined;
    if (this.#looks.size >= attentionLimits.looks) {
      this.exhausted('too-many-files');
      return undefined;
    }
    const seen = await this.inspector.look(path);
    this.#looks.set(path, seen);
    return seen;
  }

  /**
   * Its path, when it is a text below the root that can be read: then it is part of the digest. An approval of an action holds
   * only while these files are as they were shown.
   */
  async bind(text: string, site: Site): Promise<string | undefined> {
    const place = this.place(text, site);
    if (this.inspector === undefined || place.kind !== 'inside' || place.path === '')
      return undefined;
    if (Object.hasOwn(this.files, place.path)) return place.path;
    const content = await this.inspector.read(place.path);
    if (content === undefined) return undefined;
    if (Object.keys(this.files).length >= attentionLimits.scripts) {
      this.exhausted('too-many-scripts');
      return undefined;
    }
    this.files[place.path] = createHash('sha256').update(content).digest('hex');
    this.step(`bound to the content of ${place.path}`);
    return place.path;
  }

  /** Beyond the limit of questions nothing counts as tracked: then nothing is taken back. */
  async isTracked(path: string): Promise<boolean> {
    if (this.inspector === undefined) return false;
    const known = this.#tracked.get(path);
    if (known !== undefined || this.#tracked.size >= attentionLimits.tracked) return known ?? false;
    const isTracked = await this.inspector.isTracked(path);
    this.#tracked.set(path, isTracked);
    return isTracked;
  }

  /** Nothing further is looked at. */
  exhausted(rule: string): false {
    if (this.#isExhausted) return false;
    this.#isExhausted = true;
    const { commands, depth, scripts, looks, chars } = attentionLimits;
    const limits =
      `at most ${commands} commands, ${depth} levels, ${scripts} scripts, ${looks} paths and ` +
      `${chars} characters are judged`;
    this.drafts.push({
      ...{ signal: 'Emergent', severity: 'Gate', rule, file: '', tool: rule, target: '' },
      ...{ evidence: limits, action_description: `${rule.replaceAll('-', ' ')}: ${limits}` },
      ...{ isIrreversible: true, isLocal: false },
    });
    return false;
  }

  /** Words that may name where the effect is. */
  mark(words: readonly Word[] | string): void {
    if (typeof words === 'string') return;
    for (const { text } of words.slice(1))
      if (this.words.size < attentionLimits.commands) this.words.add(text);
  }

  /** `git push` and `origin main`. */
  #subject(words: readonly Word[]): [tool: string, target: string] {
    const { operands } = this.book.read(words);
    const [program, first] = operands;
    const name = program?.text ?? '';
    const isSplit =
      first?.isStatic === true &&
      /^[A-Za-z][\w:-]*$/.test(first.text) &&
      this.book.hasCommands(name);
    const tool = isSplit ? `${name} ${first.text}` : name;
    const rest = operands.slice(isSplit ? 2 : 1).map(({ text }) => text);
    return [tool, rest.join(' ')];
  }
}

/** The same words in another folder have another target. */
function placed(target: string, { folder }: Site): string {
  const where = folder.cwd ?? 'an unknown folder';
  return where === '' ? target : `${where}: ${target}`;
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

function isWithinAny(path: string, folders: Iterable<string>): boolean {
  for (const each of folders) if (path === each || path.startsWith(`${each}/`)) return true;
  return false;
}
