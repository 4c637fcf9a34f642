import { createHash } from 'node:crypto';
import type { Ground } from '../../../../src/critic/ground.js';
import type { Examined, Mode, ModeInput } from '../../../../src/critic/mode.js';
import { TemporaryTree } from '../../../support/git-tree.js';
import { AnalysedTree } from '../../../support/ground.js';

/** A small program that shows what the modes look for, and one function that shows nothing. */
export const failingFiles: Record<string, string> = {
  'src/store.ts': [
    "import { readFileSync } from 'node:fs';",
    "import { exec } from 'node:child_process';",
    '',
    'export const rowsMax = 500;',
    '',
    '/** It must never give a row twice. */',
    'export function load(path: string): string[] {',
    '  try {',
    "    return readFileSync(path, 'utf8').split(',').slice(0, rowsMax);",
    '  } catch {}',
    '  return [];',
    '}',
    '',
    'export function run(line: string): void {',
    '  exec(line);',
    '}',
    '',
    '/** It must always end. */',
    'export function tested(a: number): number {',
    '  return a + 1;',
    '}',
    '',
  ].join('\n'),
  'src/use.ts': [
    "import { load, run } from './store.js';",
    'export function all(): string[] {',
    "  return load('a');",
    '}',
    'export function go(): void {',
    '  run(process.argv[2] ?? "");',
    '}',
    '',
  ].join('\n'),
  'src/wait.c': [
    '#include <stdlib.h>',
    'struct box *make(void)',
    '{',
    '\tstruct box *one = malloc(8);',
    '\tone->size = 1;',
    '\treturn use(one);',
    '}',
    'void spin(void)',
    '{',
    '\tfor (;;) {',
    '\t\tstep();',
    '\t}',
    '}',
    '',
  ].join('\n'),
  'test/store.test.ts': [
    "import { tested } from '../src/store.js';",
    "test('it', () => expect(tested(1)).toBe(2));",
    '',
  ].join('\n'),
  'docs/design.md': [
    '# Store',
    '',
    'Rows are read by `load()`. It must never give a row twice: `load()` must always end.',
    '',
    '`tested()` must never give a wrong number.',
    '',
    'Reading takes 35 % less time. It was measured, see [the bench](bench.md).',
    '',
    '## Decision',
    '',
    'The decision is a file.',
    '',
  ].join('\n'),
};

export interface FailingTree extends AsyncDisposable {
  root: string;
  /** One that has answered nothing yet. Unless it is named, all inputs share one. */
  newGround(): Promise<Ground>;
  /** Reads the artifact of the tree; `text` stands in for it. */
  input(path: string, more?: Partial<ModeInput> & { text?: string }): Promise<ModeInput>;
  examine(
    mode: Mode,
    path: string,
    more?: Partial<ModeInput> & { text?: string },
  ): Promise<Examined>;
}

type Files = Record<string, string>;

/** Of several states each is committed, in their order. */
export async function failingTree(
  files: Files | readonly Files[] = failingFiles,
): Promise<FailingTree> {
  const states = Array.isArray(files) ? (files as readonly Files[]) : undefined;
  const tree = await TemporaryTree.create(states === undefined ? (files as Files) : {});
  for (const state of states ?? []) {
    await tree.write(state);
    tree.commit('a change');
  }
  const analysed = await AnalysedTree.of(tree);
  const shared = await analysed.ground();
  const input: FailingTree['input'] = async (path, { text, ...more } = {}) => {
    const { ground = shared } = more;
    const its = text ?? (await ground.read(path)) ?? '';
    const digest = createHash('sha256').update(its).digest('hex');
    return {
      artifact: { path, text: its, digest },
      context: {
        ...{ criticality: 'C3', phase: 'PH-DESIGN', target_type: 'TGT-ARCH' },
        ...{ maturity: 'MAT-DRAFT', team: 'TEAM-MULTI', enforcement: 'ENF-PORT' },
        ...{ platform: 'PLAT-GENERIC', token_budget: 'TOK-CONST' },
      },
      ...{ before: [], ground, rules: [] },
      signal: new AbortController().signal,
      partial: () => undefined,
      ...more,
    };
  };
  return {
    root: tree.root,
    newGround: () => analysed.ground(),
    input,
    examine: async (mode, path, more) => mode.examine(await input(path, more)),
    [Symbol.asyncDispose]: () => analysed[Symbol.asyncDispose](),
  };
}
