import { programName, word, type Reading, type Word } from '../policy/command-pattern.js';
import type { Rule } from '../policy/policy.js';
import type { Unlisted } from '../policy/options.js';
import type { Harmless } from '../policy/rulebook.js';
import { cut, textOf, type Examination, type Site } from './examination.js';
import { hooksRisk } from './hooks.js';
import { isTakenBack } from './loss.js';
import { opaqueEffects } from './opaque.js';
import { operandRisk } from './operands.js';
import type { Place } from './paths.js';
import { listedEffects, namesSecret, secretEffects } from './secrets.js';
import { ShellLine, type Folder, type Input, type ShellCommand } from './shell.js';
import { variableEffects } from './variables.js';
import { redirectEffects, writeEffects } from './writes.js';

/**
 * Judges each command by the tables: what is dangerous is found, what is harmless passes, and everything else is opaque unless a
 * policy allows it.
 */

/** Folders whose programs are those of the machine. */
const systemFolders = /^(?:\/usr(?:\/local)?\/s?bin|\/s?bin)\/[^/]+$/;
const shells = new Set(['sh', 'bash', 'dash', 'ash', 'zsh', 'ksh']);
const labelChars = 120;

export class Judge {
  constructor(readonly exam: Examination) {}

  /** The text of a shell. */
  async line(source: string, site: Site): Promise<void> {
    const { exam } = this;
    if (!exam.mayGoOn(source.length) || !exam.enter()) return;
    const line = new ShellLine({
      command: (command, folder) => this.#command(command, folder, site),
      notJudged: (what, text) =>
        exam.opaque('complex-shell', text, site, `${what} in a line of a shell cannot be judged`),
      mayGoOn: () => exam.mayGoOn(),
    });
    await line.walk(source, site.folder, site.input);
    exam.leave();
  }

  /** An argument list. */
  async run(words: readonly Word[], site: Site): Promise<void> {
    const [program] = words;
    const { exam } = this;
    const chars = words.reduce((sum, { text }) => sum + text.length, 0);
    if (program === undefined || !exam.mayGoOn(chars) || !exam.enter()) return;
    exam.step(() => `command ${textOf(words)}`);
    await this.#run(words, program, site);
    exam.leave();
  }

  /** A command with what its shell does for it. */
  async #command(command: ShellCommand, folder: Folder, site: Site): Promise<void> {
    const { words, assignments, redirects, input } = command;
    const own: Site = { ...site, folder, input };
    const isExport = words[0]?.text === 'export';
    const exported = isExport ? words.slice(1).map(exportOf) : [];
    variableEffects([...assignments, ...exported], this.exam, own);
    if (words.length > 0) await this.run(words, own);
    await redirectEffects(redirects, words, this.exam, own);
    if (input.kind === 'text' && namesSecret({ text: input.text, isStatic: false }, this.exam))
      secretEffects(
        [{ text: input.text, isStatic: false }],
        noArguments,
        undefined,
        this.exam,
        own,
      );
  }

  async #run(words: readonly Word[], program: Word, site: Site): Promise<void> {
    const { exam } = this;
    const limit = exam.policy.sizes.argument_chars;
    if (words.some(({ text }) => text.length > limit)) {
      const shown = [program, word(`… (more than ${limit} characters)`)];
      return exam.opaque('long-argument', shown, site, 'an argument is too long to be judged');
    }
    if (!program.isStatic || program.isGlob === true)
      return exam.opaque('hidden-program', words, site, 'which program runs is not known before');
    const name = programName(program.text);
    const isOwn = program.text.includes('/') && !systemFolders.test(program.text);
    // `ls.exe` is another program than `ls`.
    const isOther = !program.text.endsWith(name);
    if (isOwn || isOther) return await this.#ownProgram(words, site);
    if (name === 'cd' || name === 'pushd' || name === 'popd') return this.#folder(words, site);
    if (name === 'export') return this.#export(words, site);
    const text = shells.has(name) ? shellText(words) : undefined;
    if (text !== undefined) return await this.#inner(words, name, text, site);
    if (name === 'find') return await this.#find(words, site);
    if (await this.#wrapped(words, name, site)) return;
    await this.#plain(words, site);
  }

  async #inner(words: readonly Word[], name: string, text: Word, site: Site): Promise<void> {
    if (!text.isStatic) {
      const says = 'the text that a shell runs is known only when it runs';
      return this.exam.opaque('hidden-code', words, site, says);
    }
    const folder = { ...site.folder };
    await this.line(text.text, { ...within(site, name), folder });
  }

  /** A program of the tree, by its path: what it does is not read. */
  async #ownProgram(words: readonly Word[], site: Site): Promise<void> {
    const [first, ...rest] = words;
    const named = [word(programName(first?.text ?? '')), ...rest];
    const given = this.exam.book.read(named);
    const isGated = await this.#dangers(words, given, site);
    secretEffects(named, given, undefined, this.exam, site);
    if (!isGated) await opaqueEffects(words, given, undefined, this.exam, site, true);
  }

  /** A command that starts no other. */
  async #plain(words: readonly Word[], site: Site): Promise<void> {
    const { exam } = this;
    const given = exam.book.read(words);
    if (exam.book.onlyAsks(words)) return;
    const isGated = await this.#dangers(words, given, site);
    const found = exam.book.harmless(words, given);
    const harmless = typeof found === 'object' ? found : undefined;
    secretEffects(words, given, harmless, exam, site);
    const unlisted =
      harmless === undefined ? found : await this.#unlisted(words, given, harmless, site);
    if (harmless !== undefined) await writeEffects(words, harmless, exam, site);
    if (harmless !== undefined && unlisted === undefined) return;
    const why = typeof unlisted === 'string' ? unlisted : undefined;
    if (!isGated) await opaqueEffects(words, given, why, exam, site, false);
  }

  /** Why a command of the table of harmless ones is not harmless as it is given here. */
  async #unlisted(
    words: readonly Word[],
    given: Reading,
    harmless: Harmless,
    site: Site,
  ): Promise<Unlisted | undefined> {
    const { exam } = this;
    const folders = harmless.leading.get('-C') ?? [];
    const places: Place[] = [];
    let at = '.';
    for (const { text } of [word('.'), ...folders]) {
      // Each one is named from the one before.
      at = /^[/~]/.test(text) ? text : `${at}/${text}`;
      places.push(await exam.realPlace(at, site));
    }
    const isOutside = places.some(({ kind }) => kind !== 'inside');
    const below = places.flatMap((place) => (place.kind === 'inside' ? [place.path] : []));
    if (harmless.row.changes === true && isOutside) {
      const says = 'changes a repository outside of the root';
      exam.found({ signal: 'ScopeEscalation', rule: 'outside-root', words, site, says });
    }
    return (
      operandRisk(words, given, harmless, exam, site) ??
      (given.operands[0]?.text === 'git'
        ? await hooksRisk(harmless.row, isOutside, below, exam)
        : undefined)
    );
  }

  /** Rows of dangerous commands. True: one of them stops. */
  async #dangers(words: readonly Word[], given: Reading, site: Site): Promise<boolean> {
    const { exam } = this;
    let isGated = false;
    for (const { rule, words: named } of exam.book.dangers(given)) {
      if (rule.loses === 'files' && (await isTakenBack(given.operands.slice(named), exam, site)))
        continue;
      const { signal, severity, irreversible } = rule;
      const isInside = rule.local === true && isBelowRoot(given, named, exam, site);
      exam.found({
        ...{ signal, rule: rule.rule, words, site, severity, irreversible, local: isInside },
        ...(rule.reason !== undefined && { says: rule.reason }),
      });
      for (const other of rule.also ?? [])
        exam.found({
          ...{ signal: other, rule: rule.rule, words, site, irreversible: false },
          ...(rule.reason !== undefined && { says: rule.reason }),
        });
      isGated ||= this.#stops(rule);
    }
    return isGated;
  }

  #stops({ signal, severity, irreversible }: Rule): boolean {
    const { signals } = this.exam.policy;
    if ((severity ?? signals[signal].severity) === 'Gate') return true;
    return irreversible === true && signals[signal].promote.includes('irreversible');
  }

  /** What a command starts that is given in its arguments. True: judged. */
  async #wrapped(words: readonly Word[], name: string, site: Site): Promise<boolean> {
    const { exam } = this;
    const found = exam.book.wrapped(words);
    if (found === undefined) return false;
    if (typeof found === 'string') {
      await this.#plain(words, site);
      return true;
    }
    const { of, options } = found;
    let { from } = found;
    const assignments: [string, Word][] = [];
    for (; of.assignments === true && from < words.length; from += 1) {
      const [assignment] = assignmentOf(words[from] ?? word(''));
      if (assignment === undefined) break;
      assignments.push(assignment);
    }
    from += of.skip ?? 0;
    const inner = words.slice(from);
    const outer = words.slice(0, from);
    await this.#dangers(outer, exam.book.read(outer), site);
    const own = within(site, cut(textOf(outer.slice(0, 1)), labelChars));
    variableEffects(assignments, exam, own);
    if (name === 'env' && inner.length === 0)
      exam.found({
        ...{ signal: 'SecurityBoundary', rule: 'credentials', words, site },
        says: 'shows all variables, credentials among them',
      });
    if (of.appends !== true) await this.run(inner, own);
    else if (inner.length > 0) {
      await this.run(appended(inner, options), { ...own, input: noInput });
      // What it is fed are names of files, as far as the line says.
      listedEffects(words, fedBy(site.input).split(/[\s'"|;&()]+/), exam, site);
    }
    secretEffects(outer, exam.book.read(outer), undefined, exam, site);
    return true;
  }

  /** `find … -exec COMMAND ;`: the search and each command by itself. */
  async #find(words: readonly Word[], site: Site): Promise<void> {
    const search: Word[] = [];
    for (let at = 0; at < words.length; at += 1) {
      const each = words[at];
      if (each === undefined) break;
      if (!/^-(?:exec|ok)(?:dir)?$/.test(each.text)) {
        search.push(each);
        continue;
      }
      const rest = words.slice(at + 1);
      // As find reads it: `+` ends a command only behind `{}`, anywhere else it is an argument.
      const end = rest.findIndex(
        ({ text }, place) => text === ';' || (text === '+' && rest[place - 1]?.text === '{}'),
      );
      const inner = end < 0 ? [unknownWord, ...rest] : rest.slice(0, end);
      at += inner.length + 1;
      const given = inner.map((part): Word =>
        part.text.includes('{}') ? { text: part.text, isStatic: false, listed: 'found' } : part,
      );
      const own = { ...within(site, `find ${each.text}`), input: noInput };
      const folder = each.text.endsWith('dir') ? { cwd: undefined } : site.folder;
      await this.run(given, { ...own, folder });
    }
    if (search.length < words.length)
      listedEffects(
        words,
        search.slice(1).map(({ text }) => text),
        this.exam,
        site,
      );
    await this.#plain(search, site);
  }

  /** An unknown folder stays unknown: what is written there may be anywhere. */
  #folder(words: readonly Word[], site: Site): void {
    const { folder } = site;
    const target = words.slice(1).find(({ text }) => !/^-[PLe@]$|^--$/.test(text)) ?? word('~');
    const place = this.exam.place(target.text, site);
    const isKnown =
      words[0]?.text !== 'popd' && target.isStatic && target.isGlob !== true && target.text !== '-';
    folder.cwd = isKnown && place.kind !== 'unknown' ? place.path : undefined;
  }

  /** `export X=value` was judged as a variable; without one all of them are shown. */
  #export(words: readonly Word[], site: Site): void {
    const names = words.slice(1);
    if (names.length > 0 && names.every(({ text }) => /^[A-Za-z_]\w*(?:=|$)/.test(text))) return;
    this.exam.found({
      ...{ signal: 'SecurityBoundary', rule: 'credentials', words, site },
      says: 'shows all variables, credentials among them',
    });
  }
}

function fedBy(input: Input): string {
  if (input.kind === 'text') return input.text;
  return input.kind === 'unread' ? (input.from ?? '') : '';
}

const noInput: Input = { kind: 'none' };
const noArguments: Reading = { operands: [], options: new Map(), end: 0 };

function within(site: Site, label: string): Site {
  return { ...site, via: [...site.via, label] };
}

function assignmentOf(each: Word): [string, Word][] {
  const sign = /^[A-Za-z_]\w*=/.exec(each.text);
  if (sign === null) return [];
  const name = sign[0].slice(0, -1);
  return [[name, { ...each, text: each.text.slice(sign[0].length) }]];
}

/** Of a name alone, no value. */
function exportOf(each: Word): [string, Word | undefined] {
  return assignmentOf(each)[0] ?? [each.text, undefined];
}

/** In the place of a program: which one runs is not known. */
const unknownWord: Word = { text: '', isStatic: false, listed: 'given' };

/** What xargs puts in is known only when it runs. */
function appended(words: readonly Word[], options: ReadonlyMap<string, readonly Word[]>): Word[] {
  const unknown = (text: string): Word => ({ text, isStatic: false, listed: 'given' });
  const placeholders = options.get('-I') ?? [];
  const isOverridden = ['-L', '-n', '-l', '--max-lines', '--max-args'].some((each) =>
    options.has(each),
  );
  // The last of these options decides how input is placed; which one that is, is not known here.
  if (placeholders.length > 1 || (placeholders.length === 1 && isOverridden))
    return [unknownWord, ...words];
  const placeholder = placeholders[0]?.text;
  if (placeholder === undefined) return [...words, unknown('…')];
  return words.map((each) => (each.text.includes(placeholder) ? unknown(each.text) : each));
}

/** `bash -euo pipefail -c TEXT`; undefined: it runs no text, or has options that are not known. */
function shellText(words: readonly Word[]): Word | undefined {
  let isText = false;
  for (let at = 1; at < words.length; at += 1) {
    const each = words[at];
    if (each === undefined) return undefined;
    if (!/^[-+]/.test(each.text)) return isText ? each : undefined;
    if (!/^[-+][lecuxo]+$/.test(each.text)) return undefined;
    isText ||= /^-.*c/.test(each.text);
    if (each.text.endsWith('o')) at += 1;
  }
  return undefined;
}

function isBelowRoot(given: Reading, from: number, exam: Examination, site: Site): boolean {
  return given.operands.slice(from).every(({ text }) => exam.place(text, site).kind === 'inside');
}
