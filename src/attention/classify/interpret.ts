import { programName } from './command-pattern.js';
import { inputOf, unreadInput, word, type Spot } from './examination.js';
import { localImports } from './imports.js';
import { isAsking, isPure, readingOf } from './interpreter-words.js';
import type { Interpreter } from './policy.js';
import { scanScript, type Started } from './script-scan.js';
import { scriptWrites } from './script-writes.js';
import { secretEffects } from './secret-effects.js';
import { tableEffects } from './effects.js';
import type { Word } from './shell.js';
import { treeCode } from './tree-code.js';
import type { Unwrapper } from './unwrap.js';

/** Interpreters, and the scripts that they are given: read by the inspector, and judged by what they do. */

export class Interpreting {
  constructor(private readonly unwrapper: Unwrapper) {}

  /** True: it is one, and judged. */
  async interpreter(words: readonly Word[], spot: Spot): Promise<boolean> {
    const { exam } = this.unwrapper;
    const program = this.unwrapper.nameOf(words);
    const interpreter = exam.book.interpreterOf(program);
    if (interpreter === undefined) return false;
    if (this.#isTool(words, program)) return false;
    const reading = readingOf(words, interpreter);
    secretEffects(
      words.slice(0, words.length - reading.rest.length),
      exam.book.read(words),
      exam,
      spot,
      reading.code,
    );
    for (const file of reading.loaded)
      if (/[./]/.test(file.text)) await this.file(file, [], interpreter, words, spot);
    for (const code of reading.code) await this.#code(code, reading.rest, interpreter, words, spot);
    if (reading.code.length > 0) {
      if (interpreter.language === 'perl' && reading.flags.has('-i'))
        await tableEffects(words, exam.book.read(words), exam, spot);
      return true;
    }
    if (reading.module !== undefined)
      await this.#module(reading.module, reading.rest, interpreter, spot);
    else if (isAsking(reading.flags, interpreter)) return true;
    else if (reading.file !== undefined)
      await this.file(reading.file, reading.rest, interpreter, words, spot);
    else await this.#input(interpreter, words, spot);
    return true;
  }

  /** A program by its path: a script of the tree, or what cannot be known. */
  async script(words: readonly Word[], spot: Spot): Promise<void> {
    const { exam } = this.unwrapper;
    const [path, ...rest] = words;
    if (path === undefined) return;
    const name = programName(path.text);
    const named = [word(name), ...rest];
    const given = exam.book.read(named);
    const isTold = await tableEffects(named, given, exam, spot);
    const isLauncher = exam.policy.tasks.launchers.includes(name);
    if (isLauncher) await treeCode(named, this.unwrapper, spot);
    if (isLauncher && (isTold || exam.book.isHarmless(given))) return;
    secretEffects(named, given, exam, spot);
    const hint = exam.book.interpreterOfFile(path.text);
    await this.file(path, rest, hint, words, spot);
  }

  async file(
    path: Word,
    rest: readonly Word[],
    hint: Interpreter | undefined,
    words: readonly Word[],
    spot: Spot,
  ): Promise<void> {
    const { exam } = this.unwrapper;
    if (/^https?:/.test(path.text))
      return exam.opaque('hidden-code', words, spot, 'runs what it loads from elsewhere');
    const isPlaced = path.content !== undefined;
    if (!isPlaced && (!path.isStatic || path.isGlob === true))
      return exam.opaque('hidden-script', words, spot, 'its script is told only when it runs');
    const name = programName(path.text);
    const named = [word(name), ...rest];
    const isLauncher = exam.policy.tasks.launchers.includes(name) && name.includes('.');
    const given = exam.book.read(named);
    const isTold = isLauncher && (await tableEffects(named, given, exam, spot));
    let text = await exam.read(path, spot);
    let { text: at } = path;
    if (text === undefined && hint?.language === 'javascript' && path.isStatic)
      for (const ending of ['.js', '.mjs', '/index.js'])
        if (text === undefined) {
          text = await exam.read(word(`${path.text}${ending}`), spot);
          if (text !== undefined) at += ending;
        }
    // Unread it is known by its name, as far as that says what it does.
    if (text === undefined && (isTold || (isLauncher && exam.book.isHarmless(given)))) return;
    if (text === undefined) return await this.unwrapper.opaqueOrLater(path, words, spot);
    const place = exam.place(at, spot);
    const file = place.kind === 'inside' && !isPlaced ? place.path : spot.file;
    await this.text(text, rest, hint, this.unwrapper.inner(spot, path.text, { file }));
  }

  /** A script's text, by its first line or by whoever was to run it. */
  async text(
    source: string,
    rest: readonly Word[],
    hint: Interpreter | undefined,
    spot: Spot,
  ): Promise<void> {
    const { exam } = this.unwrapper;
    const shebang = /^#!\s*(\S+)(?:\s+(?:-\S+\s+)*(\S+))?/.exec(source);
    const program = programName(shebang?.[1] ?? '');
    const named = exam.book.interpreterOf(
      program === 'env' ? programName(shebang?.[2] ?? '') : program,
    );
    const interpreter = hint ?? named;
    if (shebang !== null && interpreter === undefined)
      return exam.opaque(
        'hidden-script',
        source.split('\n')[0] ?? '',
        spot,
        'of an interpreter that is not known',
      );
    if (source.includes('\u0000'))
      return exam.opaque(
        'unreadable-script',
        spot.via.at(-1) ?? '',
        spot,
        'a program without text',
      );
    await this.#judge(source, rest, interpreter?.language ?? 'shell', spot);
  }

  /** A text whose language is known beforehand. */
  known(source: string, language: string, spot: Spot): Promise<void> {
    return this.#judge(source, [], language, spot);
  }

  async #judge(source: string, rest: readonly Word[], language: string, spot: Spot): Promise<void> {
    const { exam } = this.unwrapper;
    if (language === 'shell') {
      const scope = this.unwrapper.fresh(spot, { name: spot.file, positionals: [...rest] });
      return await this.unwrapper.shell(source, { ...spot, scope });
    }
    if (language === 'opaque')
      return exam.opaque('hidden-code', source, spot, 'code that is not read here');
    if (!exam.enter()) return;
    for (const started of scanScript(source, language, exam, spot)) {
      if (!exam.mayGoOn()) break;
      await this.#started(started, spot);
    }
    await scriptWrites(source, language, exam, spot);
    await this.#imports(source, language, spot);
    exam.leave();
  }

  async #started(started: Started, spot: Spot): Promise<void> {
    // It may write to what it starts.
    const own: Spot = { ...spot, input: unreadInput };
    const scope = this.unwrapper.fresh(own, { name: '' });
    switch (started.kind) {
      case 'shell':
        return await this.unwrapper.shell(started.text, { ...own, scope });
      case 'argv':
        return await this.unwrapper.run(started.words, { ...own, scope });
      case 'opaque':
        return this.unwrapper.exam.opaque(
          'starts-program',
          started.text,
          spot,
          'starts what is told only then',
        );
    }
  }

  async #imports(source: string, language: string, spot: Spot): Promise<void> {
    const { exam } = this.unwrapper;
    if (spot.file === '' || spot.remote) return;
    for (const { candidates, isCertain } of localImports(source, language, spot.file)) {
      if (candidates.some((each) => Object.hasOwn(exam.files, each))) continue;
      let isRead = false;
      for (const path of candidates) {
        const text = await exam.readInside(path);
        if (text === undefined) continue;
        isRead = true;
        await this.#judge(text, [], language, this.unwrapper.inner(spot, path, { file: path }));
        break;
      }
      if (!isRead && isCertain && exam.inspector !== undefined)
        exam.opaque('unreadable-script', candidates[0] ?? '', spot, 'a module that cannot be read');
    }
  }

  async #code(
    code: Word,
    rest: readonly Word[],
    { language, pure }: Interpreter,
    words: readonly Word[],
    spot: Spot,
  ): Promise<void> {
    const { exam } = this.unwrapper;
    if (code.isStatic && pure !== undefined && isPure(code.text, pure)) return;
    if (!code.isStatic)
      return exam.opaque('hidden-code', words, spot, 'runs what is told only then');
    const own = this.unwrapper.inner(spot, this.unwrapper.nameOf(words));
    if (language === 'opaque')
      return exam.opaque('hidden-code', words, spot, 'code that is not read here');
    if (language !== 'shell') return await this.#judge(code.text, rest, language, own);
    const [name, ...positionals] = rest;
    const scope = this.unwrapper.fresh(own, { name: name?.text ?? '', positionals });
    await this.unwrapper.shell(code.text, { ...own, scope });
  }

  async #input(interpreter: Interpreter, words: readonly Word[], spot: Spot): Promise<void> {
    const { exam } = this.unwrapper;
    const input = await inputOf(spot, exam);
    if (input.kind === 'none') return;
    if (input.kind === 'unknown') {
      if (spot.input.kind === 'file')
        return await this.unwrapper.opaqueOrLater(spot.input.path, words, spot);
      return exam.opaque('hidden-code', words, spot, 'runs what another program says');
    }
    const own = this.unwrapper.inner(spot, this.unwrapper.nameOf(words), {
      input: { kind: 'none' },
    });
    await this.#judge(input.text, [], interpreter.language, own);
  }

  /** `python -m pytest` is pytest; a module of the tree is read. */
  async #module(module: Word, rest: Word[], interpreter: Interpreter, spot: Spot): Promise<void> {
    const { exam } = this.unwrapper;
    const own = this.unwrapper.inner(spot, '-m');
    const path = module.text.replaceAll('.', '/');
    const folder =
      spot.scope.cwd === undefined || spot.scope.cwd === '' ? '' : `${spot.scope.cwd}/`;
    for (const each of [`${folder}${path}.py`, `${folder}${path}/__main__.py`]) {
      const place = exam.place(`./${each.slice(folder.length)}`, spot);
      if (place.kind !== 'inside' || !module.isStatic || spot.remote) continue;
      const text = await exam.readInside(place.path);
      if (text !== undefined)
        return await this.text(text, rest, interpreter, { ...own, file: place.path });
    }
    await this.unwrapper.run([module, ...rest], own);
  }

  /** `bun install`, `deno test`: words of a tool, no script. */
  #isTool(words: readonly Word[], program: string): boolean {
    const second = words.slice(1).find(({ text }) => !text.startsWith('-'))?.text;
    if (program !== 'bun' && program !== 'deno') return false;
    if (second === undefined || second === 'run' || second === 'eval' || second === 'repl')
      return false;
    return !/[./]/.test(second);
  }
}
