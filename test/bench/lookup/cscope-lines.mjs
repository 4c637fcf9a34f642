// One cscope that stays open and is asked line by line, as an editor does it.
import { spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';

/** Of a name that is nowhere in the database, cscope says that it cannot search. */
const head = /^(?:>> )?(?:cscope: (\d+) lines?|Unable to search database)\n/;

export class CscopeLines {
  #child;
  #text = '';
  #wake = () => undefined;

  constructor(database, root) {
    this.root = root;
    this.#child = spawn('cscope', ['-d', '-q', '-l', '-f', database], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.#child.stdout.setEncoding('utf8').on('data', (chunk) => {
      this.#text += chunk;
      this.#wake();
    });
    this.#child.once('close', () => {
      this.#child = undefined;
      this.#wake();
    });
  }

  /** Call sites of a function, and how long the complete answer took. Throws when cscope has ended. */
  async callers(name) {
    const startedMs = performance.now();
    const sites = await this.#ask(3, name);
    return { sites, ms: performance.now() - startedMs };
  }

  /** What the functions of that name call: `{ file, name, line }`, the place being the call's. */
  async callees(name) {
    return (await this.#ask(2, name)).map(({ caller, ...site }) => ({ ...site, name: caller }));
  }

  /** Global definitions of a name, of whatever kind: `{ file, line }`. */
  async definitions(name) {
    return (await this.#ask(1, name)).map(({ file, line }) => ({ file, line }));
  }

  /** Every place where a name stands: `{ file, line }`. */
  async symbols(name) {
    return (await this.#ask(0, name)).map(({ file, line }) => ({ file, line }));
  }

  close() {
    this.#child?.stdin.end();
  }

  /** One of its numbered questions; the answers to all of them look the same. */
  async #ask(question, name) {
    this.#child?.stdin.write(`${question}${name}\n`);
    return (await this.#answer()).flatMap((row) => this.#site(row));
  }

  async #answer() {
    for (;;) {
      const rows = this.#complete();
      if (rows !== undefined) return rows;
      if (this.#child === undefined) throw new Error('cscope has ended');
      await new Promise((resolve) => (this.#wake = resolve));
    }
  }

  #complete() {
    const found = head.exec(this.#text);
    if (found === null || !this.#text.endsWith('>> ')) return undefined;
    const rows = this.#text.slice(found[0].length).split('\n');
    const count = Number(found[1] ?? 0);
    if (rows.length - 1 < count) return undefined;
    this.#text = '';
    return rows.slice(0, count);
  }

  #site(row) {
    const [, file, caller, line] = /^(\S+) (\S+) (\d+) /.exec(row) ?? [];
    if (file === undefined) return [];
    return [{ file: file.slice(this.root.length + 1), caller, line: Number(line) }];
  }
}
