import { builtin } from './builtins.js';
import { programName } from './command-pattern.js';
import { plainEffects, redirectEffects, tableEffects, variableEffects } from './effects.js';
import { textOf, unreadInput, type Examination, type Spot } from './examination.js';
import { Interpreting } from './interpret.js';
import { runTask } from './run-task.js';
import { ShellScope } from './shell-scope.js';
import { ShellText, type Input, type ShellCommand, type Word } from './shell.js';
import { treeCode } from './tree-code.js';
import { unwrapped } from './wrappers.js';

/** Finds what a command really runs, through all that starts something else, and has its effects judged. */

/** Folders whose programs are the machine's, or of the packages of the tree. */
const programFolders =
  /^(?:\/usr(?:\/local)?\/s?bin|\/s?bin|\/opt\/homebrew\/bin|\/snap\/bin|(?:.*\/)?node_modules\/\.bin|(?:.*\/)?vendor\/bin|(?:.*\/)?\.?venv\/bin|\/usr\/lib\/git-core)\/[^/]+$/;

export class Unwrapper {
  readonly interpreting: Interpreting;

  constructor(readonly exam: Examination) {
    this.interpreting = new Interpreting(this);
  }

  /** A command with what its shell does for it. */
  async command(command: ShellCommand, spot: Spot): Promise<void> {
    const { words, assignments, redirects, output } = command;
    const own: Spot = { ...spot, input: command.input, output };
    await this.variables([...assignments, ...declared(words)], own);
    if (words.length > 0) await this.run(words, own);
    await redirectEffects(redirects, words, this.exam, own);
  }

  /** Variables that are set, whose value may be a command itself. */
  async variables(variables: Iterable<readonly [string, Word]>, spot: Spot): Promise<void> {
    const judge = (command: string, name: string): Promise<void> =>
      this.shell(command, this.inner(spot, name), unreadInput);
    await variableEffects(variables, judge, this.exam, spot);
  }

  /** An argument list. */
  async run(words: readonly Word[], spot: Spot): Promise<void> {
    const [program] = words;
    if (program === undefined || !this.exam.enter()) return;
    this.exam.step(() => `command ${textOf(words)}`);
    const chars = words.reduce((sum, { text }) => sum + text.length, 0);
    if (this.exam.spend('words', words.length) && this.exam.spend('chars', chars))
      await this.#run(words, program, spot);
    this.exam.leave();
  }

  async #run(words: readonly Word[], program: Word, spot: Spot): Promise<void> {
    if (!program.isStatic || program.isGlob === true)
      return this.exam.opaque(
        'hidden-program',
        words,
        spot,
        'its program is told only when it runs',
      );
    if (program.text.includes('/') && !programFolders.test(program.text))
      return await this.interpreting.script(words, spot);
    if (await builtin(words, this, spot)) return;
    await treeCode(words, this, spot);
    if (await unwrapped(words, this, spot)) return;
    if (await this.interpreting.interpreter(words, spot)) return;
    const isTask = await runTask(words, this, spot);
    if (isTask) await tableEffects(words, this.exam.book.read(words), this.exam, spot);
    else await plainEffects(words, this.exam, spot);
  }

  /** The text of a shell, in the scope of the spot. */
  async shell(source: string, spot: Spot, input: Input = spot.input): Promise<void> {
    if (!this.exam.enter()) return;
    const { exam } = this;
    const walker = new ShellText({
      command: (command, scope) => this.command(command, { ...spot, scope }),
      unreadable: (detail) =>
        exam.opaque('unreadable-shell', source, spot, `no text of a shell (${detail})`),
      mayGoOn: () => exam.mayGoOn(),
      enter: () => exam.enter(),
      leave: () => exam.leave(),
      spend: (kind, count) => exam.spend(kind, count),
      read: (path, scope) => exam.read(path, { ...spot, scope }),
    });
    await walker.walk(source, spot.scope, input);
    exam.leave();
  }

  /** What a program starts, seen from within it. */
  inner(spot: Spot, via: string, changes: Partial<Spot> = {}): Spot {
    return { ...spot, via: [...spot.via, via], ...changes };
  }

  /** A shell that begins anew: its own variables, in the folder of the one that starts it. */
  fresh(spot: Spot, parts: { name: string; positionals?: Word[] }): ShellScope {
    const scope = spot.scope.fork();
    scope.name = parts.name;
    scope.positionals = parts.positionals ?? [];
    scope.branches = 0;
    return scope;
  }

  async opaqueOrLater(path: Word, words: readonly Word[], spot: Spot): Promise<void> {
    const place = this.exam.place(path.text, spot);
    const isLater = this.exam.inspector === undefined && !spot.remote && path.isStatic;
    if (isLater && place.kind === 'inside' && !this.exam.written.has(place.path))
      return this.exam.step(`${path.text} is read where it can be`);
    this.exam.opaque('unreadable-script', words, spot, 'a script that cannot be read');
    return await Promise.resolve();
  }

  nameOf(words: readonly Word[]): string {
    return programName(words[0]?.text ?? '');
  }
}

/** `export X=value`: set for all that comes after. */
function declared(words: readonly Word[]): [string, Word][] {
  const [program, ...rest] = words;
  if (!['export', 'declare', 'typeset', 'readonly'].includes(program?.text ?? '')) return [];
  return rest.flatMap((each): [string, Word][] => {
    const at = each.text.indexOf('=');
    return at <= 0 ? [] : [[each.text.slice(0, at), { ...each, text: each.text.slice(at + 1) }]];
  });
}
