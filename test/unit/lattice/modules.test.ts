import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { calleesOf } from '../../../src/lattice/trace/call-sites.js';
import { Lattice } from '../../../src/lattice/lattice.js';
import { query } from '../../../src/lattice/query/query.js';
import { TopologyKeeper } from '../../../src/lattice/topology/topology.js';
import { trace } from '../../../src/lattice/trace/trace.js';
import type { TopologyAnswer } from '../../../src/pgc/shapes.js';
import { indexedTree, type IndexedTree } from '../../support/indexed-tree.js';

const limits = { clock: systemClock, deadlineMs: 5_000 };

/** An application that posts letters through a library, whose front door re-exports what the core defines. */
const typescript = {
  'app/main.ts': `import { Mailbox, seal as close } from '../lib/index.js';
import { Ledger } from '../core/ledger.js';
import type { Courier } from '../core/courier.js';
import { join } from 'node:path';

/** Posts one letter and books it. */
export function post(text: string, courier: Courier): string {
  const mailbox = new Mailbox();
  const seen = new Set<string>();
  seen.add(text);
  mailbox.put(close(text));
  courier.collect(mailbox);
  return join('out', new Ledger().book(text));
}
`,
  'app/other.ts': `import { helper } from './helper.js';
export function stray(list: { collect(): void; put(x: string): void }): void {
  list.collect();
  list.put(helper());
}
`,
  'app/helper.ts': `export function helper(): string {
  return 'x';
}
`,
  'lib/index.ts': `export * from './mailbox.js';
export { stamp as seal } from '../core/stamp.js';
`,
  'lib/mailbox.ts': `import { Ledger } from '../core/ledger.js';

/** Holds letters until somebody collects them. */
export class Mailbox extends Ledger {
  readonly #letters = new Map<string, string>();

  constructor() {
    super();
    this.#prepare();
  }

  /** Keeps one letter. */
  put(letter: string): void {
    this.#letters.set(letter, this.book(letter));
  }

  #prepare(): void {
    this.#letters.clear();
  }
}
`,
  'core/ledger.ts': `/** Books what goes through. */
export class Ledger {
  book(line: string): string {
    return line.trim();
  }
}
`,
  'core/courier.ts': `/** Carries letters away. */
export class Courier {
  collect(box: object): object {
    return box;
  }
}
`,
  'core/stamp.ts': `/** Presses a stamp on the letter. */
export function stamp(text: string): string {
  return text + '!';
}
`,
  'core/map.ts': `export class Atlas {
  set(name: string): void {
    this.add(name);
  }
  add(name: string): void {
    void name;
  }
}
`,
};

const python = {
  'app/main.py': `import json
from lib import Mailbox, seal as close
from core import ledger
import core.audit


def post(text):
    """Posts one letter and books it."""
    mailbox = Mailbox()
    mailbox.put(close(text))
    core.audit.note(text)
    items = []
    items.append(text)
    return json.dumps(ledger.book(text))
`,
  'lib/__init__.py': `from .mailbox import Mailbox
from core.stamp import stamp as seal
`,
  'lib/mailbox.py': `from core.base import Box


class Mailbox(Box):
    """Holds letters."""

    def __init__(self):
        self.prepare()

    def put(self, letter):
        self.keep(letter)

    def prepare(self):
        pass
`,
  'core/__init__.py': '',
  'core/base.py': `class Box:
    def keep(self, letter):
        return letter
`,
  'core/stamp.py': `def stamp(text):
    return text
`,
  'core/ledger.py': `def book(text):
    return text
`,
  'core/audit.py': `def note(text):
    return text


class Log:
    def append(self, text):
        return text
`,
};

const aliases = ['app', 'lib', 'core'];

interface Opened {
  tree: IndexedTree;
  lattice: Lattice;
}
async function open(files: Record<string, string>): Promise<Opened> {
  const tree = await indexedTree(files, aliases);
  const cards = await Promise.all(tree.shards.map((shard) => shard.card()));
  return { tree, lattice: new Lattice(tree.shards, cards) };
}
const callees = async (lattice: Lattice, symbol: string): Promise<string[]> =>
  (await calleesOf(lattice, symbol)).callees.map((each) =>
    `${each.symbol} ${each.definition}`.trim(),
  );
const edges = (lattice: Lattice): string[] =>
  new TopologyKeeper()
    .of([...lattice.cards.values()])
    .edges.map(
      (each: TopologyAnswer['edges'][number]) =>
        `${each.from} ${each.to} ${each.symbols.sort().join()}`,
    );
const steps = async (lattice: Lattice, from: string, to: string): Promise<string[]> =>
  (await trace(lattice, from, to, limits)).path.map((each) => `${each.agent} ${each.symbol}`);

describe('TypeScript in three shards', () => {
  let opened: Opened;
  beforeAll(async () => {
    opened = await open(typescript);
  });
  afterAll(() => opened.tree[Symbol.asyncDispose]());

  test('a call means what its import says, through re-exports, and methods of the class that is named', async () => {
    expect(await callees(opened.lattice, 'post')).toEqual([
      'Mailbox lib/mailbox.ts:4',
      'constructor lib/mailbox.ts:7',
      'Set',
      'add',
      'put lib/mailbox.ts:13',
      'stamp core/stamp.ts:2',
      'collect core/courier.ts:3',
      'Ledger core/ledger.ts:2',
      'book core/ledger.ts:3',
      'join',
    ]);
  });

  test('without an import a method name means nothing', async () => {
    expect(await callees(opened.lattice, 'stray')).toEqual([
      'collect',
      'helper app/helper.ts:1',
      'put',
    ]);
  });

  test('methods of the own class come before the base class in another shard', async () => {
    expect(await callees(opened.lattice, 'lib/mailbox.ts#Mailbox.put')).toEqual([
      'book core/ledger.ts:3',
      'set',
    ]);
    expect(await callees(opened.lattice, 'lib/mailbox.ts#Mailbox.constructor')).toContain(
      '#prepare lib/mailbox.ts:17',
    );
  });

  test('a trace goes through renamed imports, constructors and methods', async () => {
    expect(await steps(opened.lattice, 'post', 'stamp')).toEqual(['app post', 'core stamp']);
    expect(await steps(opened.lattice, 'post', '#prepare')).toEqual([
      'app post',
      'lib constructor',
      'lib #prepare',
    ]);
    expect(await steps(opened.lattice, 'post', 'Ledger.book')).toEqual(['app post', 'core book']);
  });

  test('the topology has edges for what is imported and none for methods of the runtime', () => {
    expect(edges(opened.lattice)).toEqual([
      'app core Ledger,book,collect,stamp',
      'app lib Mailbox,constructor,put',
      'lib core Ledger,book',
    ]);
  });

  test('a question follows the import into the other shard', async () => {
    const request = {
      question: 'How does posting put a letter into the mailbox?',
      from: 'app',
      max_hops: 3,
      top_k: 5,
    };
    const answer = await query(opened.lattice, request, limits);
    expect(answer.query_path.slice(0, 2)).toEqual(['app', 'lib']);
  });
});

describe('Python in three shards', () => {
  let opened: Opened;
  beforeAll(async () => {
    opened = await open(python);
  });
  afterAll(() => opened.tree[Symbol.asyncDispose]());

  test('a call means what its import says: names of packages, modules and dotted modules', async () => {
    expect(await callees(opened.lattice, 'post')).toEqual([
      'Mailbox lib/mailbox.py:4',
      '__init__ lib/mailbox.py:7',
      'put lib/mailbox.py:10',
      'stamp core/stamp.py:1',
      'note core/audit.py:1',
      'append',
      'book core/ledger.py:1',
      'dumps',
    ]);
  });

  test('self means the own class and its bases, also in another shard', async () => {
    expect(await callees(opened.lattice, 'Mailbox.put')).toEqual(['keep core/base.py:2']);
    expect(await steps(opened.lattice, 'post', 'prepare')).toEqual([
      'app post',
      'lib __init__',
      'lib prepare',
    ]);
  });

  test('the topology has edges for what is imported and none for lists', () => {
    expect(edges(opened.lattice)).toEqual([
      'app core book,note,stamp',
      'app lib Mailbox,__init__,put',
      'lib core keep',
    ]);
  });
});
